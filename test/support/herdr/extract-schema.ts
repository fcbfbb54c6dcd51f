import * as fs from "node:fs"

// Makes schema.json: what the stand-in answers, out of Herdr's own API schema (`herdr-api.schema.json`, 250 KB).
//   node test/support/herdr/extract-schema.ts <herdr-api.schema.json>

const answered: ReadonlyArray<string> = [
  ...["ok", "pane_current", "pane_info", "pane_layout", "pane_list", "pane_process_info", "pane_swap"],
  ...["tab_created", "tab_info"]
]

const document: {
  readonly protocol: number
  readonly schemas: Readonly<Record<"success_response" | "error_response", Readonly<Record<string, unknown>>>>
} = JSON.parse(fs.readFileSync(process.argv[2] ?? "", "utf8"))

const at = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

/** `{…, $ref: "#/schemas/success_response/$defs/Name"}` with the reference into the file that is made. */
const rebased = (text: string): string => text.replaceAll(/#\/schemas\/\w+\/\$defs\//g, "#/$defs/")

const response = at(document.schemas.success_response["$defs"], "ResponseResult")
const alternatives = at(response, "oneOf")
if (!Array.isArray(alternatives)) throw new Error("this is not Herdr's API schema")
const used: Record<string, unknown> = {
  ResponseResult: {
    oneOf: alternatives.filter((one) => answered.includes(String(at(at(at(one, "properties"), "type"), "const"))))
  }
}
for (let size = 0; size < Object.keys(used).length;) {
  size = Object.keys(used).length
  for (const [, schema = "", name = ""] of JSON.stringify(used).matchAll(/#\/schemas\/(\w+)\/\$defs\/(\w+)/g)) {
    if (schema === "success_response") used[name] ??= at(document.schemas.success_response["$defs"], name)
  }
}
const { $defs, $schema: _, ...error } = document.schemas.error_response
const { $defs: __, $schema: ___, ...success } = document.schemas.success_response
const made = { protocol: document.protocol, success, error, $defs: { ...Object(used), ...Object($defs) } }
fs.writeFileSync(`${import.meta.dirname}/schema.json`, `${rebased(JSON.stringify(made, null, 1))}\n`)
