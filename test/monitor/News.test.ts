import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { type News, type Post, posting, telling } from "../../monitor/News.ts"
import type { WorkerView } from "../../src/domain/Snapshot.ts"
import * as SnapshotScripted from "../support/SnapshotScripted.ts"

const workersOf = (posts: ReadonlyArray<Post>) =>
  posts.map((post) => post._tag === "Read" ? post.snapshot.changed.map(({ agent }) => agent.name) : [])

/** Two processes: what the one tells, the other is told. */
const between = () => {
  const [posts, told]: [Array<Post>, Array<News>] = [[], []]
  const hear = telling((news) => told.push(news))
  const tell = posting((post) => {
    posts.push(post)
    hear(structuredClone(post))
  })
  return { posts, tell, told }
}

const views = (workers: ReadonlyArray<WorkerView>, at: number): News => ({
  _tag: "Read",
  snapshot: SnapshotScripted.snapshot(workers, at),
  at
})

describe("news between the two processes of a monitor", () => {
  it("are told as they were, while what is known is not sent again", () => {
    const [a, b] = ["a", "b"].map((name) => SnapshotScripted.worker(name))
    if (a === undefined || b === undefined) throw new Error("two workers")
    const seen: WorkerView = { ...a, seen: { ...a.seen, observedStatus: "idle", evidence: "recent" } }
    const report: WorkerView = {
      ...b,
      report: { version: 1, sessionId: b.agent.sessionId, status: "blocked", summary: "x", updatedAt: "" }
    }
    const all = [[a, b], [b, { ...a, seen: { ...a.seen } }], [b, seen], [report, seen], [seen], [seen, report]]
    const { posts, tell, told } = between()
    all.forEach((workers, at) => tell(views(workers, at)))
    assert.deepStrictEqual(told, all.map(views))
    assert.deepStrictEqual(workersOf(posts), [["a", "b"], [], ["a"], ["b"], [], ["b"]])
  })

  it("are told as they were, whatever changes", () => {
    const worker = FastCheck.record({
      name: FastCheck.constantFrom("a", "b", "c"),
      lastActivity: FastCheck.constantFrom(undefined, "x"),
      evidence: FastCheck.constantFrom("recent" as const, "stale" as const),
      unread: FastCheck.boolean()
    })
    const team = FastCheck.uniqueArray(worker, { selector: ({ name }) => name })
    FastCheck.assert(FastCheck.property(FastCheck.array(team), (teams) => {
      const { tell, told } = between()
      const all = teams.map((workers, at) =>
        views(
          workers.map(({ evidence, lastActivity, name, unread }) => ({
            ...SnapshotScripted.worker(name, { seen: { evidence, lastActivity } }),
            ...(unread ? { reportUnread: true } : {})
          })),
          at
        )
      )
      all.forEach(tell)
      assert.deepStrictEqual(told, all)
    }))
  })
})
