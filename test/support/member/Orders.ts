import * as Schema from "effect/Schema"

/** What the parent asks of a {@link file://./Child.ts}. */
export const Order = Schema.Union(
  /** Opens a session with this environment, after closing what is open. Answers its role. */
  Schema.TaggedStruct("Open", {
    id: Schema.String,
    directory: Schema.String,
    version: Schema.Literal("1.6.0", "0.84.4"),
    entry: Schema.String,
    environment: Schema.Record({ key: Schema.String, value: Schema.String })
  }),
  /** As `session_shutdown` does. */
  Schema.TaggedStruct("Close", {}),
  /** Its work ends, its listener too; its process and its lock stay. */
  Schema.TaggedStruct("Stop", {}),
  /** Its Pi saves a session with one turn of that directory, as a worker's does. Answers the file. */
  Schema.TaggedStruct("Save", { id: Schema.String, directory: Schema.String }),
  Schema.TaggedStruct("Resume", { to: Schema.String, confirmClosed: Schema.Boolean }),
  /** `/intercom <args>`; `yes` is what the person answers when asked. */
  Schema.TaggedStruct("Command", { args: Schema.String, yes: Schema.Boolean }),
  Schema.TaggedStruct("Pid", {}),
  Schema.TaggedStruct("Port", {}),
  /** Every text and notice so far. */
  Schema.TaggedStruct("Shown", {})
)
export type Order = typeof Order.Type

/** One order on its way, as a line. */
export const Asked = Schema.Struct({ number: Schema.Int, order: Order })
/** What became of it: the text of a result, or the sentence of an error. */
export const Answer = Schema.Struct({ number: Schema.Int, ok: Schema.Boolean, text: Schema.String })
export type Answer = typeof Answer.Type
