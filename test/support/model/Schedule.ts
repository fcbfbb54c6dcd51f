import * as FC from "effect/FastCheck"

/** The protocol's messages, in order. */
export const closeKinds = [
  "close_prepare",
  "close_identity",
  "close_request",
  "handoff_report",
  "close_ready",
  "close_commit"
] as const
export type CloseKind = typeof closeKinds[number]

/** What befalls one message. `Busy` is a 503; `Late` is delivered once more, long after. */
export type NetFault = "Drop" | "LoseAnswer" | "Duplicate" | "Refuse" | "Busy" | "Late" | "Slow"
/** What befalls one write of the team file or the ledger. */
export type WriteFault = "FailBefore" | "FailAfter" | "Hang" | "CrashBefore" | "CrashAfter"
/** What befalls one call of the multiplexer. The last four are of the close command. */
export type MuxFault = "Fail" | "Hang" | "Stuck" | "AnswerLost" | "TooLate" | "NotStarted" | "NoEffect"
export const muxOperations = ["identify", "verify", "close", "gone"] as const
export type MuxOperation = typeof muxOperations[number]

/** What happens in the world besides. `who`: 0 and 1 are workers, "c" is the coordinator. */
export type Who = "c" | 0 | 1
export type Action =
  | { readonly _tag: "crash"; readonly who: Who; readonly backMs: number }
  | { readonly _tag: "reload" | "twin" | "input" | "bash" | "tree" | "abort"; readonly who: Who }
  | { readonly _tag: "compact" | "dialog"; readonly who: Who; readonly ms: number }
  | { readonly _tag: "jump"; readonly ms: number }
  | { readonly _tag: "replace" | "respawn" | "move" | "exec" | "reuse" | "swap"; readonly who: 0 | 1 }
  | { readonly _tag: "unknown" | "deaf"; readonly who: Who; readonly ms: number }
  | { readonly _tag: "header"; readonly who: 0 | 1; readonly header: "absent" | "wrong" }
  | { readonly _tag: "close" | "send" | "configure" | "remove" | "resume" | "resolve" | "list"; readonly who: 0 | 1 }
  | { readonly _tag: "report"; readonly who: 0 | 1; readonly right: boolean }

/** A moment between two steps of the product: `out`, `in` and `back` are of a message on its way and its answer. */
export type Point =
  | `${CloseKind} ${"out" | "in" | "back"}`
  | `${"write" | "ledger" | MuxOperation} ${"begin" | "back"}`
  | "write rename"
  | "close effect"
  | "call"
  | "result"
  | "settle"
  | "told"

/** One thing that happens, at the nth time that its moment comes after the close was asked for. */
export type Event =
  | { readonly _tag: "net"; readonly kind: CloseKind; readonly nth: number; readonly fault: NetFault }
  | { readonly _tag: "write" | "ledger"; readonly nth: number; readonly fault: WriteFault; readonly ms: number }
  | { readonly _tag: "mux"; readonly of: MuxOperation; readonly nth: number; readonly fault: MuxFault }
  | { readonly _tag: "on"; readonly point: Point; readonly nth: number; readonly act: Action }
  | { readonly _tag: "at"; readonly ms: number; readonly act: Action }

/** What a worker is like. */
export interface Character {
  /** How its model answers a request. */
  readonly reports: "once" | "twice" | "never" | "wrong" | "unwilling"
  readonly afterMs: number
  /** The host makes an error of its first successful result, as another extension may. */
  readonly spoilt: boolean
  /** A turn that runs when the close begins, and how long; none when 0. */
  readonly turnMs: number
  readonly ignoresHangup: boolean
  /** It has a saved session already. */
  readonly saved: boolean
}

/** One run of the whole protocol: who takes part, and what happens when. Everything else follows. */
export interface Schedule {
  readonly seed: number
  readonly multiplexer: "tmux" | "herdr"
  readonly timeoutSeconds: 30 | 60 | 120
  readonly workers: ReadonlyArray<Character>
  readonly events: ReadonlyArray<Event>
}

const who = FC.constantFrom<Array<Who>>(0, 0, 0, 1, "c")
const worker = FC.constantFrom<Array<0 | 1>>(0, 0, 0, 1)
const peer = FC.constantFrom<Array<Who>>(0, "c")
const nth = FC.constantFrom(1, 1, 1, 2, 2, 3)
const tag = <T extends string>(...tags: ReadonlyArray<T>) => FC.constantFrom(...tags)

const action: FC.Arbitrary<Action> = FC.oneof(
  { weight: 4, arbitrary: FC.record({ _tag: tag("crash"), who: peer, backMs: FC.constantFrom(5, 300, 4000, 40_000) }) },
  { weight: 3, arbitrary: FC.record({ _tag: tag("reload"), who }) },
  { weight: 1, arbitrary: FC.record({ _tag: tag("twin"), who }) },
  {
    weight: 6,
    arbitrary: FC.record({ _tag: tag("input", "input", "bash", "tree", "abort"), who: FC.constant(0 as const) })
  },
  {
    weight: 3,
    arbitrary: FC.record({ _tag: tag("compact", "dialog"), who: peer, ms: FC.constantFrom(3, 400, 3000) })
  },
  {
    weight: 3,
    arbitrary: FC.record({ _tag: tag("jump"), ms: FC.constantFrom(-60_000, -500, 2_000, 31_000, 200_000) })
  },
  {
    weight: 4,
    arbitrary: FC.record({
      _tag: tag("replace", "respawn", "move", "exec", "reuse", "swap"),
      who: FC.constant(0 as const)
    })
  },
  { weight: 1, arbitrary: FC.record({ _tag: tag("unknown", "deaf"), who: peer, ms: FC.constantFrom(3, 400, 8000) }) },
  { weight: 1, arbitrary: FC.record({ _tag: tag("header"), who: worker, header: tag("absent", "wrong") }) },
  {
    weight: 6,
    arbitrary: FC.record({
      _tag: tag("close", "send", "send", "configure", "configure", "remove", "remove", "resume", "resolve", "list"),
      who: worker
    })
  },
  { weight: 1, arbitrary: FC.record({ _tag: tag("report"), who: worker, right: FC.boolean() }) }
)

const phases = ["out", "in", "back"] as const
const points: ReadonlyArray<Point> = [
  ...closeKinds.flatMap((kind) => phases.map((phase): Point => `${kind} ${phase}`)),
  ...(["write", "ledger", ...muxOperations] as const).flatMap((of): ReadonlyArray<Point> => [
    `${of} begin`,
    `${of} back`
  ]),
  "write rename",
  "write begin",
  "write rename",
  "close effect",
  "call",
  "result",
  "settle",
  "told"
]

const later = FC.oneof(
  FC.integer({ min: 0, max: 200 }),
  FC.integer({ min: 0, max: 4_000 }),
  FC.integer({ min: 0, max: 140_000 })
)

/** Around the command, where it matters most. */
const late: FC.Arbitrary<Event> = FC.record({
  _tag: tag("on"),
  point: FC.constantFrom<Array<Point>>(
    "close begin",
    "close_ready back",
    "close_commit in",
    "close_commit back",
    "close effect",
    "settle"
  ),
  nth: FC.constant(1),
  act: FC.oneof(
    FC.record({ _tag: tag("crash"), who: peer, backMs: FC.constantFrom(5, 4000) }),
    FC.record({ _tag: tag("input", "reload"), who: peer }),
    FC.record({ _tag: tag("jump"), ms: FC.constantFrom(121_000, 200_000) }),
    FC.record({ _tag: tag("replace", "respawn", "exec", "reuse", "reuse"), who: FC.constant(0 as const) }),
    FC.record({ _tag: tag("unknown"), who: FC.constant(0 as const), ms: FC.constant(400) })
  )
})

const event: FC.Arbitrary<Event> = FC.oneof(
  { weight: 3, arbitrary: late },
  {
    weight: 5,
    arbitrary: FC.record({
      _tag: tag("net"),
      kind: FC.constantFrom(...closeKinds),
      nth,
      fault: FC.constantFrom<Array<NetFault>>("Drop", "LoseAnswer", "Duplicate", "Refuse", "Busy", "Late", "Slow")
    })
  },
  {
    weight: 3,
    arbitrary: FC.record({
      _tag: tag("write", "write", "ledger"),
      nth: FC.constantFrom(1, 2, 3, 4, 5),
      fault: FC.constantFrom<Array<WriteFault>>("FailBefore", "FailAfter", "Hang", "Hang", "CrashBefore", "CrashAfter"),
      ms: FC.constantFrom(30, 900, 6000)
    })
  },
  {
    weight: 2,
    arbitrary: FC.record({
      _tag: tag("mux"),
      of: FC.constantFrom<Array<MuxOperation>>("identify", "verify", "verify", "gone"),
      nth,
      fault: FC.constantFrom<Array<MuxFault>>("Fail", "Hang", "Stuck")
    })
  },
  {
    weight: 1,
    arbitrary: FC.record({
      _tag: tag("mux"),
      of: tag("close"),
      nth: FC.constant(1),
      fault: FC.constantFrom<Array<MuxFault>>("AnswerLost", "TooLate", "NotStarted", "NoEffect", "Hang")
    })
  },
  { weight: 9, arbitrary: FC.record({ _tag: tag("on"), point: FC.constantFrom(...points), nth, act: action }) },
  { weight: 2, arbitrary: FC.record({ _tag: tag("at"), ms: later, act: action }) }
)

const character: FC.Arbitrary<Character> = FC.record({
  reports: FC.constantFrom("once", "once", "once", "once", "once", "once", "twice", "never", "wrong", "unwilling"),
  afterMs: FC.constantFrom(4, 4, 4, 900, 20_000),
  spoilt: FC.constantFrom(false, false, false, false, false, false, true),
  turnMs: FC.constantFrom(0, 0, 0, 8, 2000),
  ignoresHangup: FC.constantFrom(false, false, false, false, true),
  saved: FC.constantFrom(true, true, true, false)
})

/** The announcement is lost, and before it is repeated something new begins. */
const overtaken: FC.Arbitrary<ReadonlyArray<Event>> = FC.tuple(
  FC.record({
    _tag: tag("net"),
    kind: tag("close_ready"),
    nth: FC.constant(1),
    fault: FC.constantFrom<Array<NetFault>>("Drop", "Busy", "LoseAnswer")
  }),
  FC.record({
    _tag: tag("on"),
    point: tag("close_ready out"),
    nth: FC.constantFrom(1, 2),
    act: FC.record({ _tag: tag("input", "bash", "tree"), who: FC.constant(0 as const) })
  })
)

/** Schedules of which most come to the close command, each with a few faults somewhere on the way. */
export const schedulesOn = (...multiplexers: ReadonlyArray<Schedule["multiplexer"]>): FC.Arbitrary<Schedule> =>
  FC.record({
    seed: FC.nat(1_000_000),
    multiplexer: tag(...multiplexers),
    timeoutSeconds: FC.constantFrom<Array<30 | 60 | 120>>(30, 30, 120, 60),
    workers: FC.oneof({ weight: 5, arbitrary: FC.tuple(character) }, {
      weight: 1,
      arbitrary: FC.tuple(character, character)
    }),
    events: FC.oneof(
      { weight: 12, arbitrary: FC.array(event, { minLength: 1, maxLength: 3, size: "max" }) },
      { weight: 1, arbitrary: overtaken },
      { weight: 4, arbitrary: FC.array(event, { minLength: 3, maxLength: 8, size: "max" }) }
    )
  })

const plain = (value: object): string =>
  Object.entries(value).filter(([key]) => key !== "_tag").map(([key, one]) =>
    typeof one === "object" && one !== null && "_tag" in one ? `${one._tag} ${plain(one)}` : `${key}=${String(one)}`
  ).join(" ")

/** A schedule as a person reads it, one step a line. */
export const print = ({ events, multiplexer, seed, timeoutSeconds, workers }: Schedule): string =>
  [
    `${multiplexer}, ${timeoutSeconds} s, seed ${seed}`,
    ...workers.map((one, index) => `  worker ${index}: ${plain(one)}`),
    ...events.map((one) => `  ${one._tag} ${plain(one)}`)
  ].join("\n")
