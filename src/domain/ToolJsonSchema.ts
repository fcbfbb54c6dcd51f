import * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import { toolArguments, type ToolName } from "./ToolCatalogue.ts"

/** A tool's parameters as the host gets them: an object schema, closed, references inlined, generated words stripped. */
export type JsonObject = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const generated = new Set(["title", "description", "$id", "$schema"])

const strip = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(strip)
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const [key, child] of Object.entries(value)) {
    if (generated.has(key) && typeof child === "string") continue
    kept[key] = key === "properties" && isObject(child)
      ? Object.fromEntries(Object.entries(child).map(([name, property]) => [name, strip(property)]))
      : strip(child)
  }
  if (Array.isArray(kept["allOf"])) {
    // Stacked filters become `allOf` siblings; a model needs one flat schema.
    for (const part of kept["allOf"]) if (isObject(part)) Object.assign(kept, { ...part, ...kept })
    delete kept["allOf"]
  }
  return kept
}

const emptyObject: JsonObject = { type: "object", properties: {}, required: [], additionalProperties: false }

/** The JSON Schema of a schema of arguments; one without fields becomes the closed empty object. */
export const jsonSchemaOf = (schema: Schema.Schema.All): JsonObject => {
  const made = JSONSchema.fromAST(schema.ast, {
    definitions: {},
    topLevelReferenceStrategy: "skip",
    target: "jsonSchema7"
  })
  const stripped = strip(made)
  return isObject(stripped) && isObject(stripped["properties"]) && Object.keys(stripped["properties"]).length > 0
    ? { ...stripped, additionalProperties: false }
    : emptyObject
}

/** The JSON Schema that the host is given for a tool. */
export const parametersOf = (name: ToolName): JsonObject => jsonSchemaOf(toolArguments[name])
