import Ajv from "ajv"
import * as fs from "node:fs"
import * as path from "node:path"

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Changes every schema of an object with named properties. */
const everyObject = (schema: unknown, change: (one: Json) => Json): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => everyObject(one, change))
  if (!isObject(schema)) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, everyObject(one, change)]))
  return isObject(schema["properties"]) && schema["type"] === "object" ? change(inner) : inner
}

const closed = (schema: Json): Json => ({ ...schema, additionalProperties: false })

const required = (schema: Json): Json => {
  const names = Array.isArray(schema["required"]) ? schema["required"] : []
  const properties = Object.entries(Object(schema["properties"])).filter(([name]) => names.includes(name))
  return closed({ ...schema, properties: Object.fromEntries(properties) })
}

/** What an answer may hold: what Herdr publishes, that and nothing else, or only what it requires. */
export type Strictness = "open" | "closed" | "required"

const published: { readonly success: Json; readonly error: Json; readonly $defs: Json } = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, "schema.json"), "utf8")
)

const validatorOf = (kind: "success" | "error", strictness: Strictness) => {
  const schema = { ...published[kind], $defs: published.$defs }
  const changed = strictness === "open" ? schema : everyObject(schema, strictness === "closed" ? closed : required)
  // Its formats are widths of Rust's numbers.
  return new Ajv({ format: false, allErrors: true }).compile(Object(changed))
}

const validators = {
  success: {
    open: validatorOf("success", "open"),
    closed: validatorOf("success", "closed"),
    required: validatorOf("success", "required")
  },
  error: {
    open: validatorOf("error", "open"),
    closed: validatorOf("error", "closed"),
    required: validatorOf("error", "required")
  }
}

/** What Herdr's published schema (schema.json, by extract-schema.ts) has against an answer; empty when nothing. */
export const complaints = (
  kind: "success" | "error",
  answer: unknown,
  strictness: Strictness = "closed"
): ReadonlyArray<string> => {
  const validate = validators[kind][strictness]
  void validate(answer)
  return (validate.errors ?? []).map((error) => `${error.dataPath} ${error.message ?? ""}`)
}
