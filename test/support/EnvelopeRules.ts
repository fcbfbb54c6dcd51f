/**
 * Spec 2.3 once more, written by hand from its table and without the domain's schemas: what a fuzzer compares the
 * listener's answers with. Nothing here is imported from src.
 */

type Check = (value: unknown) => boolean

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const own = (value: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined

const text = (max: number, nul = false): Check => (value) =>
  typeof value === "string" && value.length >= 1 && value.length <= max && value.trim() !== "" &&
  (nul || !value.includes("\u0000"))
const atMost = (max: number): Check => (value) => typeof value === "string" && value.length <= max
const matches = (form: RegExp): Check => (value) => typeof value === "string" && form.test(value)
const int = (least: number, most: number): Check => (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most

const session = text(256)
const token = matches(/^[A-Za-z0-9-]{1,128}$/)
const port = int(1, 65535)
const count = int(1, Number.MAX_SAFE_INTEGER)
const time: Check = (value) =>
  typeof value === "string" && value.length <= 32 && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+)$/.test(value) &&
  !Number.isNaN(Date.parse(value))
const directory: Check = (value) =>
  value === "." ||
  (typeof value === "string" && value.length <= 4096 && !/[\\\u0000]|^[A-Za-z]:/.test(value) &&
    value.split("/").every((part) => !["", ".", ".."].includes(part)))

const struct = (fields: Readonly<Record<string, Check>>, closed: boolean): Check => (value) =>
  isObject(value) && Object.entries(fields).every(([key, check]) => check(own(value, key))) &&
  (!closed || Object.keys(value).every((key) => Object.hasOwn(fields, key)))

const report: Check = (value) => {
  if (!isObject(value)) return false
  const summary = own(value, "summary")
  if (own(value, "status") === "clear") return summary === ""
  return ["blocked", "needs_decision", "ready_for_review"].includes(String(own(value, "status"))) &&
    typeof own(value, "status") === "string" && text(2000, true)(summary)
}

const job = { jobId: token, instanceId: token }
const payloads: Readonly<Record<string, Check>> = {
  message: struct({ message: text(48_000, true) }, false),
  report,
  registration: struct({ port, projectDirectory: directory }, false),
  status: struct({ port, busy: (value) => typeof value === "boolean" }, false),
  request_status: isObject,
  reload: isObject,
  stop: isObject,
  close: isObject,
  close_prepare: struct({ jobId: token, deadlineAt: time }, true),
  close_identity: struct({
    ...job,
    identity: struct({
      workspaceId: atMost(256),
      paneId: atMost(256),
      terminalId: atMost(256),
      sessionId: session,
      sessionFile: (value) => atMost(4096)(value) && String(value).startsWith("/"),
      pid: count,
      processStart: matches(/^\d{1,20}$/)
    }, true)
  }, true),
  close_request: struct(job, true),
  handoff_report: struct({ ...job, report: count, summary: text(4000) }, true),
  close_ready: struct({ ...job, report: count, readyNonce: token }, true),
  close_commit: struct({ ...job, readyNonce: token }, true)
}

const depth = (value: unknown): number => {
  let [level, deep]: [Array<unknown>, number] = [[value], 0]
  for (; level.length > 0 && deep < 100; deep += 1) {
    level = level.flatMap((one) => typeof one === "object" && one !== null ? Object.values(one) : [])
  }
  return deep
}

/** Whether spec 2.3 takes this body at the session `to`. Nesting over 16 levels below the top is refused. */
export const takes = (body: string, to: string): boolean => {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return false
  }
  if (!isObject(value) || depth(value) > 17) return false
  const kind = own(value, "kind")
  const payload = typeof kind === "string" && Object.hasOwn(payloads, kind) ? payloads[kind] : undefined
  return payload !== undefined && own(value, "version") === 1 && session(own(value, "from")) &&
    own(value, "to") === to && payload(own(value, "payload")) &&
    ["correlationId", "messageId"].every((key) => !Object.hasOwn(value, key) || token(value[key]))
}
