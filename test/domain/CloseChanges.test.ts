import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { JobChanged, type Move, moveClose, orphaned, requestClose, settleAll } from "../../src/domain/CloseChanges.ts"
import {
  type CloseJob,
  CloseReason,
  CloseState,
  fences,
  isFinal,
  isPending,
  maxPending,
  mayBecome
} from "../../src/domain/CloseTable.ts"
import { AgentName, coordinatorName, Port, SessionId } from "../../src/domain/Primitives.ts"
import { type Agent, agentBySession, decodeConfig, encodeConfig, type TeamConfig } from "../../src/domain/TeamConfig.ts"

const begin = "2025-11-02T10:14:00.000Z"
const at = "2025-11-02T10:15:00.000Z"
const deadlineAt = "2025-11-02T10:16:00.000Z"
const deadline = Date.parse(deadlineAt)
const jobIn = (state: CloseState, jobId = "job"): CloseJob => ({
  jobId,
  state,
  createdAt: begin,
  updatedAt: begin,
  deadlineAt
})
const handoff = (jobId: string, summary = "All done.") => ({ version: 1, jobId, summary, updatedAt: at } as const)
const agent = (sessionId: string, changed: Partial<Agent> = {}): Agent => ({
  sessionId: SessionId.make(sessionId),
  name: AgentName.make(`Worker ${sessionId}`),
  coordinator: false,
  description: "Works.",
  port: Port.make(20_000),
  projectDirectory: ".",
  ...changed
})
const team = (...workers: ReadonlyArray<Agent>): TeamConfig => ({
  version: 1,
  multiplexer: "tmux",
  agents: [agent("c", { name: coordinatorName, coordinator: true }), ...workers]
})
const a = SessionId.make("a")
const entry = (config: TeamConfig, id: string = a) => agentBySession(config, id)
const without = ({ closeJob: _, handoff: __, ...rest }: Agent) => rest

const state = FastCheck.constantFrom(...CloseState.literals)
const states = FastCheck.subarray([...CloseState.literals])
const reason = FastCheck.option(FastCheck.constantFrom(...CloseReason.literals), { nil: undefined })
const move: FastCheck.Arbitrary<Move> = FastCheck.tuple(state, reason, FastCheck.boolean()).map(
  ([to, why, reported]) => ({
    state: to,
    ...(why === undefined ? {} : { reason: why }),
    ...(reported ? { handoff: handoff("job", "Again.") } : {})
  })
)

describe("asking for a close", () => {
  const ada = agent("a")
  const now = Date.parse(begin)

  it("adds the job to the entry and nothing else; the handoff of before stays", () => {
    const parked = agent("a", { closeJob: jobIn("closed", "old"), handoff: handoff("old") })
    const config = Either.getOrThrow(requestClose(parked, jobIn("requested"), now)(team(parked, agent("b"))))
    assert.deepStrictEqual(entry(config), { ...parked, closeJob: jobIn("requested") })
    assert.deepStrictEqual(entry(config, "b"), agent("b"))
    assert.isTrue(Either.isRight(decodeConfig(encodeConfig(config))))
  })

  it("is refused when the entry is gone, or has another port or directory by now", () => {
    for (
      const config of [
        team(),
        team(agent("a", { port: Port.make(2) })),
        team(agent("a", { projectDirectory: "x" }))
      ]
    ) {
      const refused = Either.getOrThrow(Either.flip(requestClose(ada, jobIn("requested"), now)(config)))
      assert.strictEqual(refused._tag === "Refused" ? refused.reason : refused._tag, "changed")
    }
    // A name and a responsibility are not what is closed.
    const renamed = agent("a", { name: AgentName.make("Eva"), description: "Other." })
    assert.isTrue(Either.isRight(requestClose(ada, jobIn("requested"), now)(team(renamed))))
  })

  it("is refused exactly while the entry is fenced (spec 6.1)", () => {
    FastCheck.assert(
      FastCheck.property(state, FastCheck.integer({ min: deadline - 20_000, max: deadline + 20_000 }), (of, when) => {
        const worker = agent("a", { closeJob: jobIn(of, "old") })
        const asked = requestClose(worker, jobIn("requested"), when)(team(worker))
        assert.strictEqual(Either.isLeft(asked), fences(worker.closeJob, when))
        if (Either.isLeft(asked)) assert.strictEqual(asked.left._tag === "Refused" && asked.left.reason, "fenced")
      })
    )
  })

  it("is refused when 16 are pending, whatever else the file has", () => {
    FastCheck.assert(FastCheck.property(FastCheck.array(state, { maxLength: 40 }), (others) => {
      const workers = others.map((of, index) => agent(`w${index}`, { closeJob: jobIn(of, `job-${index}`) }))
      const asked = requestClose(ada, jobIn("requested"), now)(team(ada, ...workers))
      const pending = others.filter(isPending).length
      assert.strictEqual(Either.isLeft(asked), pending >= maxPending)
      if (Either.isLeft(asked)) {
        assert.match(asked.left.message, /^16 closes are under way already, so Worker a was not/)
      }
    }))
    const full = Array.from(
      { length: maxPending },
      (_, index) => agent(`w${index}`, { closeJob: jobIn("requested", `job-${index}`) })
    )
    assert.isTrue(Either.isLeft(requestClose(ada, jobIn("requested"), now)(team(ada, ...full))))
    assert.isTrue(Either.isRight(requestClose(ada, jobIn("requested"), now)(team(ada, ...full.slice(1)))))
  })
})

describe("moving a close on", () => {
  it("is compared and set: only that job, only from those states, only where the table leads", () => {
    FastCheck.assert(FastCheck.property(
      state,
      states,
      move,
      FastCheck.constantFrom("job", "other"),
      FastCheck.constantFrom("a", "b", "gone"),
      (of, from, to, jobId, who) => {
        const saved = agent("a", { closeJob: jobIn(of), handoff: handoff("earlier", "Before.") })
        const before = team(saved, agent("b"))
        const moved = moveClose(SessionId.make(who), jobId, from, to, at)(before)
        const compared = jobId === "job" && who === "a" && from.includes(of)
        // What its earlier write, which may have come through, has left already is no refusal, and changes nothing.
        const left = !mayBecome(of, to.state) && of === to.state && jobIn(of).reason === to.reason
        assert.strictEqual(Either.isRight(moved), compared && (mayBecome(of, to.state) || left))
        if (compared && left) return assert.deepStrictEqual(moved, Either.right(before))
        if (Either.isLeft(moved)) return assert.instanceOf(moved.left, JobChanged)
        const after = entry(moved.right)
        assert.deepStrictEqual(after?.closeJob, {
          ...jobIn(to.state),
          updatedAt: at,
          ...(to.reason === undefined ? {} : { reason: to.reason })
        })
        assert.strictEqual(after?.handoff?.summary, to.handoff === undefined ? "Before." : "Again.")
        assert.deepStrictEqual(after && without(after), without(saved))
        assert.deepStrictEqual(entry(moved.right, "b"), agent("b"))
        assert.isTrue(Either.isRight(decodeConfig(encodeConfig(moved.right))))
      }
    ))
  })

  it("never leaves the table, whatever is tried one after the other, and never a final state", () => {
    FastCheck.assert(FastCheck.property(FastCheck.array(move, { maxLength: 40 }), (tries) => {
      let config = team(agent("a", { closeJob: jobIn("requested") }))
      for (const to of tries) {
        const was = entry(config)?.closeJob?.state ?? "requested"
        const moved = moveClose(a, "job", CloseState.literals, to, at)(config)
        if (isFinal(was)) {
          // Only the very same end, whose earlier write may have come through, is no refusal; and it changes nothing.
          const same = to.state === was && to.reason === entry(config)?.closeJob?.reason
          assert.strictEqual(Either.isRight(moved), same)
          if (Either.isRight(moved)) assert.strictEqual(moved.right, config)
        }
        config = Either.getOrElse(moved, () => config)
        const is = entry(config)?.closeJob?.state ?? "requested"
        assert.isTrue(is === was || mayBecome(was, is), `${was} to ${is}`)
      }
    }))
  })

  it("of two that saw the same, lets one win, unless it only reports again", () => {
    FastCheck.assert(FastCheck.property(state, move, move, (of, one, two) => {
      const first = moveClose(a, "job", [of], one, at)(team(agent("a", { closeJob: jobIn(of) })))
      if (Either.isLeft(first) || one.state === of) return
      assert.isTrue(Either.isLeft(moveClose(a, "job", [of], two, at)(first.right)))
    }))
  })

  it("refuses a handoff that a team file cannot hold, and then changes nothing", () => {
    const to = { state: "awaiting_settlement", handoff: handoff("job", "x".repeat(4001)) } as const
    const refused = moveClose(a, "job", ["awaiting_handoff"], to, at)(
      team(agent("a", { closeJob: jobIn("awaiting_handoff") }))
    )
    assert.strictEqual(Either.isLeft(refused) && refused.left._tag, "ConfigRefused")
  })
})

describe("a job that nobody runs any more", () => {
  it("is uncertain when its command may have been given, else interrupted (spec 6.2, orphans)", () => {
    for (const of of CloseState.literals.filter(isPending)) {
      assert.deepStrictEqual(orphaned(jobIn(of), true), { state: "uncertain", reason: "interrupted" }, of)
      const unnamed = of === "closing" ? "uncertain" : "interrupted"
      assert.deepStrictEqual(orphaned(jobIn(of), false), { state: unnamed, reason: "interrupted" }, of)
    }
  })

  it("goes where the table leads, except that a named one of a restored file is uncertain from anywhere", () => {
    for (const of of CloseState.literals.filter(isPending)) {
      assert.isTrue(mayBecome(of, orphaned(jobIn(of), false).state), of)
      assert.isFalse(isFinal(orphaned(jobIn(of), true).state), of)
    }
  })

  it("is settled where it is as it was seen, and everything else stays", () => {
    const worker = FastCheck.tuple(state, FastCheck.boolean(), FastCheck.constantFrom("same", "job", "state", "none"))
    FastCheck.assert(
      FastCheck.property(FastCheck.array(worker, { maxLength: 8 }), FastCheck.boolean(), (all, named) => {
        const workers = all.map(([of], index) =>
          agent(`w${index}`, { closeJob: jobIn(of, `job-${index}`), handoff: handoff(`job-${index}`) })
        )
        const moves = new Map(workers.flatMap(({ closeJob, sessionId }, index) => {
          const [, , seen] = all[index] ?? []
          if (closeJob === undefined || seen === "none") return []
          const other = closeJob.state === "closing" ? "requested" as const : "closing" as const
          const was = seen === "job"
            ? { ...closeJob, jobId: "another" }
            : seen === "state"
            ? { ...closeJob, state: other }
            : closeJob
          return [[sessionId, { seen: was, to: orphaned(closeJob, named) }] as const]
        }))
        const before = team(...workers)
        const after = Either.getOrThrow(settleAll(moves, at)(before))
        const untouched = all.every(([, , seen]) => seen !== "same")
        assert.strictEqual(after === before, untouched, "the very same file when there is nothing to settle")
        workers.forEach((one, index) => {
          const job = one.closeJob
          const expected = all[index]?.[2] !== "same" || job === undefined
            ? one
            : { ...one, closeJob: { ...job, ...orphaned(job, named), updatedAt: at } }
          assert.deepStrictEqual(entry(after, one.sessionId), expected)
        })
      })
    )
  })

  it("keeps its reason when proof closes it", () => {
    const job: CloseJob = { ...jobIn("uncertain"), reason: "close_unverified" }
    const config = team(agent("a", { closeJob: job }))
    const settled = settleAll(new Map([[a, { seen: job, to: { state: "closed" } }]]), at)(config)
    assert.deepStrictEqual(entry(Either.getOrThrow(settled))?.closeJob, { ...job, state: "closed", updatedAt: at })
  })
})
