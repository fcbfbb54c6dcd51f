import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import type { MonitorRequest } from "../../../src/domain/MonitorPane.ts"
import type { OwnedMonitor } from "../../../src/domain/OwnedMonitor.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import { makeMonitorRecords } from "../../support/MonitorRecordsMemory.ts"
import { answer, called, current, error, garbled, herdr, inside, pane, type Setting, trace, use } from "./HerdrWorld.ts"

const request: MonitorRequest = {
  root: "/team",
  sessionId: SessionId.make("ada"),
  argv: ["/bin/node", "/dist/monitor.cjs", "--root", "/team"],
  directory: "/team",
  environment: { PI_INTERCOM_ROOT: "/team" }
}
const file = "/team/monitor-ada.json"

const begun: OwnedMonitor = {
  version: 1,
  sessionId: request.sessionId,
  workspace: "w1",
  caller: "w1:p1",
  stage: "creating"
}
const known: OwnedMonitor = { ...begun, pane: trace }
const submitted: OwnedMonitor = { ...known, stage: "submitted" }

/** Pane 7, beside this session's own. */
const seven = (changed: object = {}) => pane(7, { tab_id: "w1:t1", ...changed })
/** A pane of somebody's that looks like a monitor. */
const stranger = pane(8, { tab_id: "w1:t1", label: "Intercom monitor" })
const list = (...panes: ReadonlyArray<object>) => answer("pane_list", { panes })
const alone = list(pane(1))
const info = (changed: object = {}) => answer("pane_info", { pane: seven(changed) })
const swapped = (changed: boolean, reason?: string) =>
  answer("pane_swap", { swap: { changed, ...(reason === undefined ? {} : { reason }) } })
const rect = (y: number, height: number, x = 0) => ({ x, y, width: 80, height })
const layout = (upper: string, lower: string, focused = "w1:p1", rects = [rect(0, 10), rect(10, 30)]) =>
  answer("pane_layout", {
    layout: {
      focused_pane_id: focused,
      panes: [{ pane_id: upper, rect: rects[0] }, { pane_id: lower, rect: rects[1] }]
    }
  })

const looks = ["pane current", "pane list"]
const steps = ["pane split", "pane rename", "pane swap", "pane layout", "pane run"] as const
/** Herdr as it is when everything goes well; what is told otherwise is first. */
const usual: Readonly<Record<string, Behaviour>> = {
  "pane list": alone,
  "pane split": info(),
  "pane rename": info({ label: "Intercom monitor" }),
  "pane swap": swapped(true),
  "pane layout": layout("w1:p7", "w1:p1")
}

/** A session with that record in such a Herdr. */
const session = (told: Readonly<Record<string, Behaviour>> = {}, record?: OwnedMonitor, setting: Setting = {}) => {
  const [records, scripts, script] = [makeMonitorRecords(), makeLaunchScripts(), herdr({ ...usual, ...told })]
  if (record !== undefined) records.files.set(file, record)
  const place = use(script, (multiplexer) => multiplexer.placeMonitor(request), {
    records: records.layer,
    scripts: scripts.layer,
    ...setting
  })
  return { records, scripts, script, place, refused: Effect.map(Effect.flip(place), ({ message }) => message) }
}

const none = (detail: string) => `There is no monitor pane: ${detail}. Nothing was created; messages work without it.`
const untouched = (detail: string, mend: string) =>
  `The monitor pane was left alone: ${detail}. Nothing was created or changed; messages work without it. ${mend}`
const unfinished = (detail: string, left: string, mend = `closed it and removed ${file}`) =>
  `The monitor pane could not be finished: ${detail}. ${left}; nothing was cleaned up and messages work without it. ` +
  `Once you have ${mend}, /reload makes a new one.`
const seventh = "The pane w1:p7 may have been left behind"
const perhaps = "A new pane in this tab may have been left behind"
const again = (named: string) => `Once you have ${named} and removed ${file}, /reload makes a new one.`
const moved = (found: string, tab: string) =>
  untouched(
    `it is the pane ${found}, which is in another tab than this session, ${tab}`,
    "Move it back or close it; then run /reload."
  )
const untold = untouched(
  "it cannot be told from here whether it is still there, as the pane w1:p7",
  again("closed that pane")
)
const elsewhere: OwnedMonitor = { ...submitted, pane: "herdr another:w1 w1:p7 term-7" }
const tcp = { code: 1, stderr: "Connection reset by peer\n" }

/** When nothing is done: what Herdr says, the record, the sentence and the calls after which it ends. */
const doubts: ReadonlyArray<
  readonly [string, Readonly<Record<string, Behaviour>>, OwnedMonitor | undefined, string, ReadonlyArray<string>]
> = [
  [
    "herdr is missing",
    { "pane current": { fails: "missing" } },
    undefined,
    none("herdr is not installed or not on PATH"),
    [
      "pane current"
    ]
  ],
  [
    "Herdr does not know the session's pane",
    { "pane current": error("pane_not_found") },
    submitted,
    none("Herdr does not know the pane of this session any more; open this session in a Herdr pane"),
    ["pane current"]
  ],
  ["the list fails", { "pane list": tcp }, undefined, none("herdr failed: Connection reset by peer"), looks],
  ["the list cannot be read", { "pane list": { stdout: "x\n" } }, undefined, none(garbled), looks],
  [
    "the list lacks the session's own pane",
    { "pane list": list(seven()) },
    submitted,
    none("Herdr lists its panes without this session's own"),
    looks
  ],
  [
    "one was begun, and its pane is not known",
    {},
    begun,
    untouched(
      "one was begun and not finished, perhaps as a pane that is not known",
      again("closed that pane, if it is there,")
    ),
    looks
  ],
  [
    "one was begun, and its pane is there",
    { "pane list": list(pane(1), seven()) },
    known,
    untouched("one was begun and not finished, perhaps as the pane w1:p7", again("closed that pane")),
    looks
  ],
  [
    "one was begun, and its pane is gone",
    {},
    known,
    untouched("one was begun and not finished, perhaps as the pane w1:p7", again("closed that pane")),
    looks
  ],
  [
    "it is in another tab",
    { "pane list": list(pane(1), seven({ tab_id: "w1:t2" })) },
    submitted,
    moved("w1:p7", "w1:t2"),
    looks
  ],
  [
    "it went to another workspace and has another id there",
    { "pane list": list(pane(1), seven({ pane_id: "w2:p7", workspace_id: "w2", tab_id: "w2:t4" })) },
    submitted,
    moved("w2:p7", "w2:t4"),
    looks
  ],
  [
    "two panes have its terminal",
    { "pane list": list(pane(1), seven(), seven({ pane_id: "w1:p8" })) },
    submitted,
    untouched(
      "there is more than one, w1:p7 and w1:p8",
      "Close all but one of them, which has to be in this session's tab; then run /reload."
    ),
    looks
  ],
  [
    "a pane of another terminal has its id",
    { "pane list": list(pane(1), seven({ terminal_id: "term-8" })) },
    submitted,
    untold,
    [...looks, "pane current", "pane list"]
  ],
  ["it is in another Herdr", { "pane list": list(pane(1), seven()) }, elsewhere, untold, looks],
  [
    "its record names no pane",
    {},
    { ...begun, stage: "submitted" },
    untouched(
      "it cannot be told from here whether it is still there, as a pane that is not known",
      again("closed that pane, if it is there,")
    ),
    looks
  ],
  [
    "a pane that is not ours has its title in this tab, and ours is not there",
    { "pane list": list(pane(1), stranger) },
    undefined,
    untouched(
      "there is a pane of its title in this tab that this session did not make, w1:p8",
      "Close or rename it; then run /reload."
    ),
    looks
  ]
]

/** When it is begun and not finished: what Herdr says at which step, and the sentence. */
const failures: ReadonlyArray<readonly [(typeof steps)[number], Behaviour, string]> = [
  [
    "pane split",
    error("pane_split_failed"),
    unfinished(
      "Herdr answered pane_split_failed",
      "No pane was opened",
      `removed ${file}`
    )
  ],
  ["pane split", tcp, unfinished("herdr failed: Connection reset by peer", perhaps)],
  ["pane split", error("timeout"), unfinished("Herdr answered timeout", perhaps)],
  ["pane split", { stdout: "x\n" }, unfinished(garbled, perhaps)],
  ["pane split", { fails: "signal" }, unfinished("herdr was ended by a signal", perhaps)],
  ...[
    info({ pane_id: "w1:p1" }),
    info({ terminal_id: "term-1" }),
    info({ tab_id: "w1:t2" }),
    info({ workspace_id: "w2" })
  ].map((odd, at) =>
    [
      "pane split",
      odd,
      unfinished(
        "Herdr answered with a pane that does not fit the one asked for",
        at === 0 ? "The pane w1:p1 may have been left behind" : seventh
      )
    ] as const
  ),
  ["pane rename", error("pane_not_found"), unfinished("Herdr does not know that pane any more", seventh)],
  ["pane swap", tcp, unfinished("herdr failed: Connection reset by peer", seventh)],
  [
    "pane swap",
    swapped(false, "cross_tab"),
    unfinished(
      "Herdr did not swap it with this session's pane (cross_tab)",
      seventh
    )
  ],
  ["pane swap", swapped(false), unfinished("Herdr did not swap it with this session's pane", seventh)],
  ["pane layout", error("pane_not_found"), unfinished("Herdr does not know that pane any more", seventh)],
  ...[
    layout("w1:p1", "w1:p7"),
    layout("w1:p7", "w1:p1", "w1:p7"),
    layout("w1:p7", "w1:p2"),
    layout("w1:p7", "w1:p1", "w1:p1", [rect(0, 11), rect(10, 30)]),
    layout("w1:p7", "w1:p1", "w1:p1", [rect(0, 10, 40), rect(10, 30)])
  ].map((odd) =>
    [
      "pane layout",
      odd,
      unfinished("it does not lie above this session's pane, or that has not the focus", seventh)
    ] as const
  ),
  ["pane run", error("pane_not_found"), unfinished("Herdr does not know that pane any more", seventh)]
]

describe("the monitor pane in Herdr, scripted", () => {
  it.effect("is made in its steps, recorded before and after", () =>
    Effect.gen(function*() {
      const { place, records, script, scripts } = session()
      assert.deepStrictEqual(yield* place, { outcome: "created", pane: "w1:p7" })
      assert.deepStrictEqual(script.calls.map(({ args }) => args), [
        ["pane", "current", "--current"],
        ["pane", "list"],
        [
          ...["pane", "split", "--pane", "w1:p1", "--direction", "down", "--ratio", "0.25"],
          ...["--cwd", "/team", "--no-focus"]
        ],
        ["pane", "rename", "w1:p7", "Intercom monitor"],
        ["pane", "swap", "--source-pane", "w1:p1", "--target-pane", "w1:p7"],
        ["pane", "layout", "--pane", "w1:p1"],
        ["pane", "run", "w1:p7", "sh '/state/team/launch/script-1.sh'"]
      ])
      assert.deepStrictEqual(records.written, [begun, known, submitted])
      const [written] = scripts.written.values()
      assert.include(written, "exec '/bin/node' '/dist/monitor.cjs' '--root' '/team'")
      assert.include(written, "export PI_INTERCOM_ROOT='/team'")
    }))

  it.effect("that is submitted and in this tab is kept, by its terminal, whoever the caller was", () =>
    Effect.gen(function*() {
      for (const changed of [{}, { pane_id: "w1:p70" }, { label: "stolen" }]) {
        const it = session(
          { "pane list": list(pane(1), pane(2), seven(changed), stranger) },
          { ...submitted, workspace: "w9", caller: "w9:p9" }
        )
        assert.deepStrictEqual(yield* it.place, { outcome: "kept", pane: changed.pane_id ?? "w1:p7" })
        assert.deepStrictEqual(called(it.script), looks)
        assert.deepStrictEqual(it.records.written, [])
        assert.strictEqual(it.scripts.written.size, 0)
      }
    }))

  it.effect("that is submitted and proven gone is made anew, whoever the caller was", () =>
    Effect.gen(function*() {
      for (const was of [submitted, { ...submitted, caller: "w1:p9" }]) {
        const { place, records, script } = session({}, was)
        assert.deepStrictEqual(yield* place, { outcome: "created", pane: "w1:p7" })
        assert.deepStrictEqual(
          called(script),
          [...looks, "pane current", "pane list", "pane list", ...steps]
        )
        assert.deepStrictEqual(records.written, [begun, known, submitted])
      }
    }))

  for (const [when, told, record, sentence, calls] of doubts) {
    it.effect(`nothing is done when ${when}`, () =>
      Effect.gen(function*() {
        const { records, refused, script, scripts } = session(told, record)
        assert.strictEqual(yield* refused, sentence)
        assert.deepStrictEqual(called(script).slice(0, calls.length), [...calls])
        assert.isTrue(called(script).every((name) => name === "pane current" || name === "pane list"))
        assert.deepStrictEqual([records.written, scripts.written.size], [[], 0])
      }))
  }

  for (const [step, told, sentence] of failures) {
    it.effect(`a failure of ${step} stays recorded as begun, and is not tried again: ${JSON.stringify(told)}`, () =>
      Effect.gen(function*() {
        const { place, records, refused, script, scripts } = session({ [step]: told })
        assert.strictEqual(yield* refused, sentence)
        const calls = [...looks, ...steps.slice(0, steps.indexOf(step) + 1)]
        assert.deepStrictEqual(called(script), calls)
        assert.deepStrictEqual(records.written, step === "pane split" ? [begun] : [begun, known])
        assert.strictEqual(scripts.written.size, 0)
        assert.match((yield* Effect.flip(place)).message, /^The monitor pane was left alone: one was begun/)
        assert.deepStrictEqual(called(script), [...calls, ...looks])
      }))
  }

  it.effect("a line that may have been typed keeps its script", () =>
    Effect.gen(function*() {
      for (
        const [told, detail] of [[tcp, "herdr failed: Connection reset by peer"], [
          error("timeout"),
          "Herdr answered timeout"
        ]] as const
      ) {
        const { records, refused, scripts } = session({ "pane run": told })
        assert.strictEqual(yield* refused, unfinished(detail, seventh))
        assert.deepStrictEqual([records.written, scripts.written.size], [[begun, known], 1])
      }
    }))

  for (
    const [at, calls, left] of [
      [1, 0, undefined],
      [2, 1, seventh],
      [3, 5, seventh]
    ] as const
  ) {
    it.effect(`a record that cannot be written the ${at}. time: nothing goes on that is not recorded`, () =>
      Effect.gen(function*() {
        const { records, refused, script, scripts } = session()
        records.failing.write = at
        const detail = `What Intercom keeps privately at ${file} cannot be used: the disk is full. Make room`
        assert.strictEqual(yield* refused, left === undefined ? none(detail) : unfinished(detail, left))
        assert.deepStrictEqual(called(script), [...looks, ...steps.slice(0, calls)])
        assert.deepStrictEqual(records.written, [begun, known].slice(0, at - 1))
        // What was typed is running.
        assert.strictEqual(scripts.written.size, at === 3 ? 1 : 0)
      }))
  }

  it.effect("outside Herdr, and where its socket is not named, nothing is looked at", () =>
    Effect.gen(function*() {
      const outside = session({}, undefined, { variables: {} })
      assert.match(yield* outside.refused, /^There is no monitor pane: this session does not run inside Herdr;/)
      const { HERDR_SOCKET_PATH: _, ...variables } = inside
      const unnamed = session({}, submitted, { variables })
      assert.strictEqual(
        yield* unnamed.refused,
        none("this session does not know its Herdr's socket; open this session in a new Herdr pane")
      )
      assert.deepStrictEqual([called(outside.script), called(unnamed.script)], [[], ["pane current"]])
    }))

  it.effect("asks Herdr where this session is, not the environment", () =>
    Effect.gen(function*() {
      const { place, script } = session({
        "pane current": current({ workspace_id: "w4", pane_id: "w4:p1", tab_id: "w4:t9" }),
        "pane list": list(pane(1, { workspace_id: "w4", pane_id: "w4:p1", tab_id: "w4:t9" })),
        "pane split": info({ workspace_id: "w4", pane_id: "w4:p7", tab_id: "w4:t9" }),
        "pane layout": layout("w4:p7", "w4:p1", "w4:p1")
      })
      assert.deepStrictEqual(yield* place, { outcome: "created", pane: "w4:p7" })
      assert.deepStrictEqual(script.calls[2]?.args.slice(2, 4), ["--pane", "w4:p1"])
    }))

  for (const [step, seconds] of [["pane split", 40], ["pane swap", 4], ["pane run", 40]] as const) {
    it.effect(`a herdr that hangs at ${step} is ended after ${seconds} s, also when interrupted meanwhile`, () =>
      Effect.gen(function*() {
        const { place, records, script } = session({ [step]: { takes: "forever" } })
        const said: Array<string> = []
        const fiber = yield* Effect.fork(
          Effect.catchAll(place, ({ message }) => Effect.sync(() => void said.push(message)))
        )
        yield* TestClock.adjust("1 millis")
        yield* Fiber.interruptFork(fiber)
        yield* TestClock.adjust(seconds * 1000 - 2)
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        yield* Fiber.await(fiber)
        assert.deepStrictEqual(called(script).at(-1), step)
        assert.deepStrictEqual(records.written.at(-1)?.stage, "creating")
      }))
  }
})
