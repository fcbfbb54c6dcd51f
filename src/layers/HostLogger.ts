import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"

/** Shows warnings to the person and drops the rest: the terminal belongs to Pi, nothing may print into it. */
export const layer = (show: (text: string) => void): Layer.Layer<never> =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => {
      if (LogLevel.lessThan(logLevel, LogLevel.Warning)) return
      show(`Intercom: ${Array.isArray(message) ? message.map(String).join(" ") : String(message)}`)
    })
  )
