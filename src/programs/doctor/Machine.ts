import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Finding } from "../../domain/Finding.ts"
import type { MultiplexerKind } from "../../domain/Primitives.ts"
import { isSupported } from "../../domain/TmuxArguments.ts"
import { CommandRunner } from "../../services/CommandRunner.ts"
import { Copies, type Copy } from "../../services/Copies.ts"
import { Multiplexers } from "../../services/Multiplexers.ts"
import { Surroundings } from "../../services/Surroundings.ts"

/** What a part of an examination found, and what it could not look at. */
export interface Part {
  readonly findings: ReadonlyArray<Finding>
  readonly notChecked: ReadonlyArray<string>
}

const found = (...findings: ReadonlyArray<Finding>): Part => ({ findings, notChecked: [] })
const unseen = (what: string): Part => ({ findings: [], notChecked: [what] })
const nothing = found()

/** Parts as one. */
export const together = (...parts: ReadonlyArray<Part>): Part => ({
  findings: parts.flatMap(({ findings }) => findings),
  notChecked: parts.flatMap(({ notChecked }) => notChecked)
})

const numbers = (version: string): ReadonlyArray<number> => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number)

const isOlder = (version: string, than: string): boolean => {
  const [left, right] = [numbers(version), numbers(than)]
  const at = right.findIndex((part, index) => (left[index] ?? 0) !== part)
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0)
}

/** facts: the hosts that are supported, and the Node that they need. */
const [oldestNode, oldestPi, firstUntestedPi] = ["22.19.0", "0.84.4", "2.0.0"]

/** Node and Pi. */
export const runtime = Effect.gen(function*() {
  const { node, pi } = yield* Surroundings
  const oldNode = isOlder(node, oldestNode)
    ? found({
      code: "node_old",
      what: `This runs on Node ${node}, and Pi needs ${oldestNode} or newer.`,
      advice: `Install Node ${oldestNode} or newer, put it first on PATH and start Pi again.`
    })
    : nothing
  const version = yield* pi
  if (Option.isNone(version)) return together(oldNode, unseen("the version of Pi, since no pi on PATH says one"))
  const advice = "Install another Pi and start it again."
  if (isOlder(version.value, oldestPi)) {
    const what = `Pi ${version.value} is older than ${oldestPi}, the oldest that Intercom works with.`
    return together(oldNode, found({ code: "pi_old", what, advice }))
  }
  if (!isOlder(version.value, firstUntestedPi)) {
    const what = `Pi ${version.value} is newer than what Intercom is made for (before ${firstUntestedPi}).`
    return together(oldNode, found({ code: "pi_new", what, advice }))
  }
  return oldNode
}).pipe(Effect.withSpan("Doctor.runtime"))

const says = { tmux: "-V", herdr: "--version" } as const
const isOld = (kind: "tmux" | "herdr", version: string): boolean =>
  kind === "tmux" ? !isSupported(version) : isOlder(version, "0.8.0")
const oldest = { tmux: "3.2", herdr: "0.8" } as const

/** The program of a team's multiplexer, and whether `launching`, this session, runs inside it. */
export const multiplexer = Effect.fn("Doctor.multiplexer")(function*(kind: MultiplexerKind, launching: boolean) {
  if (kind === "none") return nothing
  const runner = yield* CommandRunner
  const answer = yield* Effect.either(
    runner.run({ program: kind, args: [says[kind]], deadline: "4 seconds", maxOutputBytes: 4096 })
  )
  if (Either.isLeft(answer)) {
    return answer.left.reason === "missing"
      ? found({
        code: "multiplexer_missing",
        what: `The team opens workers in ${kind}, and ${kind} is not installed or not on PATH.`,
        advice: `Install ${kind} ${oldest[kind]} or newer, or let the coordinator choose another multiplexer.`
      })
      : unseen(`${kind}, since ${answer.left.message}`)
  }
  const version = /\d+\.\d+\S*/.exec(answer.right.stdout)?.[0]
  const old = version !== undefined && isOld(kind, version)
    ? found({
      code: "multiplexer_old",
      what: `${kind} ${version} is too old to open workers in: ${oldest[kind]} or newer is needed.`,
      advice: `Install ${kind} ${oldest[kind]} or newer, and start it again.`
    })
    : version === undefined
    ? unseen(`the version of ${kind}, since it says none`)
    : nothing
  const own = Option.flatMap(yield* Effect.serviceOption(Multiplexers), (all) => all.own)
  return !launching || Option.exists(own, (one) => one.kind === kind) ? old : together(
    old,
    found({
      code: "multiplexer_outside",
      what: `The team opens workers in ${kind}, and this session, its coordinator, does not run inside ${kind}.`,
      advice: `Open this session inside ${kind}, or let your agent choose the multiplexer that it runs in.`
    })
  )
})

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Copies of this extension that this Pi has loaded, and those that Pi would load beside it in these directories. */
export const copies = Effect.fn("Doctor.copies")(function*(directories: ReadonlyArray<string>) {
  const known = yield* Effect.serviceOption(Copies)
  if (Option.isNone(known)) {
    return unseen("whether Pi would load another copy of Intercom: only /intercom doctor in Pi can tell")
  }
  const all = yield* known.value.loaded
  const both = all.length < 2 ? nothing : found({
    code: "other_copy",
    what: `This Pi has loaded ${all.length} copies of Intercom, ${
      all.map(({ path }) => path).join(" and ")
    }: only one ` +
      "of them works, and Pi calls several commands /intercom by /intercom:1, /intercom:2 and so on.",
    advice: `Keep one. ${
      all.map(({ path, removal }) => `To take out ${path}: ${removal}.`).join(" ")
    } Then start Pi again.`
  })
  const places = new Map<string, { readonly copy: Copy; readonly directories: Array<string> }>()
  for (const directory of directories) {
    const copy = yield* known.value.inSettings(directory)
    if (Option.isNone(copy) || all.some(({ path }) => path === copy.value.path)) continue
    const place = places.get(copy.value.path) ?? { copy: copy.value, directories: [] }
    place.directories.push(directory)
    places.set(copy.value.path, place)
  }
  const others = Array.from(places.values(), ({ copy, directories: there }) =>
    found({
      code: "other_copy",
      what:
        `Pi started in ${there.join(", ")} would load another copy of Intercom, ${copy.path}, beside this one, so ` +
        "no worker can be opened there.",
      advice: sentence(copy.removal)
    }))
  return together(both, ...others)
})
