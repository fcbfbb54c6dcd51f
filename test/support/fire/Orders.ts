import * as Schema from "effect/Schema"
import { SessionId } from "../../../src/domain/Primitives.ts"

/** What the parent asks of a child of {@link file://./Child.ts} over its IPC channel, and what the child answers. */

/** An expected error of the product as it crossed the channel. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", {
  /** The error's own tag, for example `LockNotTaken`. */
  error: Schema.String,
  reason: Schema.optional(Schema.String),
  file: Schema.optional(Schema.String),
  pid: Schema.optional(Schema.Number),
  sentence: Schema.String
}) {
  override get message(): string {
    return `${this.error}: ${this.sentence}`
  }
}

/** A new round: closes what is open, builds all layers afresh. */
export class Open extends Schema.TaggedRequest<Open>()("Open", {
  failure: Schema.Never,
  success: Schema.Void,
  payload: { root: Schema.String, state: Schema.String }
}) {}

/** Closes what is open, as `session_shutdown` does. */
export class Close extends Schema.TaggedRequest<Close>()("Close", {
  failure: Schema.Never,
  success: Schema.Void,
  payload: {}
}) {}

/** Starts a session in the root, as Pi would. Answers its role and the host's notices. */
export class Start extends Schema.TaggedRequest<Start>()("Start", {
  failure: Failed,
  success: Schema.String,
  payload: { id: SessionId }
}) {}

/** `/intercom <args>` in the started session. Answers the text shown. */
export class Command extends Schema.TaggedRequest<Command>()("Command", {
  failure: Failed,
  success: Schema.String,
  payload: { args: Schema.String }
}) {}

/**
 * The program behind `create_worker` and `/intercom start`, for a session that found no team when it was started. Unlike
 * the command it does not look again first: it always runs into the race.
 */
export class PublishTeam extends Schema.TaggedRequest<PublishTeam>()("PublishTeam", {
  failure: Failed,
  success: Schema.String,
  payload: {}
}) {}

/** What the started session takes itself for, and what its host was given. */
export class Look extends Schema.TaggedRequest<Look>()("Look", {
  failure: Failed,
  success: Schema.Struct({
    role: Schema.String,
    coordinator: Schema.optional(Schema.String),
    texts: Schema.Array(Schema.String),
    notices: Schema.Array(Schema.String)
  }),
  payload: {}
}) {}

/** The store's first publication. Answers whether it was ours. */
export class Publish extends Schema.TaggedRequest<Publish>()("Publish", {
  failure: Failed,
  success: Schema.Literal("Published", "Lost"),
  payload: { id: SessionId }
}) {}

/** Sets a top-level key that is not ours. */
export class Update extends Schema.TaggedRequest<Update>()("Update", {
  failure: Failed,
  success: Schema.Void,
  payload: { caller: SessionId, key: Schema.String, value: Schema.Number }
}) {}

/** Configures each worker, again after a conflict. `journal` gets `change` while it is decided, `done` after each. */
export class Configure extends Schema.TaggedRequest<Configure>()("Configure", {
  failure: Failed,
  success: Schema.Struct({
    /** How often the store gave up with a conflict, and how often it waited for the lock in vain. */
    conflicts: Schema.Number,
    held: Schema.Number,
    slowestMs: Schema.Number
  }),
  payload: { caller: SessionId, workers: Schema.Array(Schema.String), journal: Schema.optional(Schema.String) }
}) {}

/** Takes a lock and keeps it until {@link Release} or the end. */
export class Take extends Schema.TaggedRequest<Take>()("Take", {
  failure: Failed,
  success: Schema.Struct({ waitedMs: Schema.Number }),
  payload: { session: Schema.optional(SessionId) }
}) {}

/** Releases what was taken. */
export class Release extends Schema.TaggedRequest<Release>()("Release", {
  failure: Schema.Never,
  success: Schema.Void,
  payload: {}
}) {}

/** Takes `config.lock`, appends `begin <pid>` and `end <pid>` to the journal while it owns it, releases it. */
export class Own extends Schema.TaggedRequest<Own>()("Own", {
  failure: Failed,
  success: Schema.Void,
  payload: { journal: Schema.String }
}) {}

/** Edits the team file as a person's editor does, without any lock, until {@link StopEditing}. */
export class Edit extends Schema.TaggedRequest<Edit>()("Edit", {
  failure: Schema.Never,
  success: Schema.Void,
  payload: { everyMs: Schema.Number, journal: Schema.String }
}) {}

/** Ends the editing. `lost`: edits of its own that it did not find again. */
export class StopEditing extends Schema.TaggedRequest<StopEditing>()("StopEditing", {
  failure: Schema.Never,
  success: Schema.Struct({ edits: Schema.Number, lost: Schema.Number }),
  payload: {}
}) {}

/** `before` and `after` a call; `torn`: in the middle of a write, with half of its bytes written. */
export const Phase = Schema.Literal("before", "after", "torn")
export type Phase = typeof Phase.Type

/** From now on calls of node:fs are counted from 1; at the `call`-th, if any, this process kills itself. */
export class Arm extends Schema.TaggedRequest<Arm>()("Arm", {
  failure: Schema.Never,
  success: Schema.Void,
  payload: { call: Schema.optional(Schema.Number), phase: Phase }
}) {}

/** Stops counting. Answers the calls since {@link Arm}, by name. */
export class Disarm extends Schema.TaggedRequest<Disarm>()("Disarm", {
  failure: Schema.Never,
  success: Schema.Array(Schema.String),
  payload: {}
}) {}

/** Every order. */
export const Order = Schema.Union(
  Open,
  Close,
  Start,
  Command,
  PublishTeam,
  Look,
  Publish,
  Update,
  Configure,
  Take,
  Release,
  Own,
  Edit,
  StopEditing,
  Arm,
  Disarm
)
export type Order = typeof Order.Type

/** One order on its way to a child. */
export const Asked = Schema.Struct({ number: Schema.Int, order: Order })
/** Its answer: the exit, encoded by the order's own schemas. */
export const Answered = Schema.Struct({ number: Schema.Int, exit: Schema.Unknown })
