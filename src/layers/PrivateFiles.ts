import * as Effect from "effect/Effect"
import { StateUnusable } from "../domain/ConfigErrors.ts"
import { checkPrivate, type Content, type FileFailed, look, makeDirectory, readRegular } from "./Files.ts"

/** What is below `<state>`: folders 0700, files 0600, this user's, no links (spec 1.3). */

const mend = (failed: FileFailed): string => {
  switch (failed.reason) {
    case "link":
    case "kind":
    case "foreign":
      return "Remove it, then run /reload: Intercom makes its own."
    case "not_private":
      return `If nobody else has used it, run chmod -R u=rwX,go= on it, then /reload.`
    case "open_to_all":
      return "If nobody else has used it, run chmod go-w on it, then /reload."
    default:
      return "Make it accessible, or set PI_INTERCOM_STATE_DIR to a private folder of yours, then run /reload."
  }
}

/** What was found, as the sentence that says how to mend it. */
export const unusable = (failed: FileFailed): StateUnusable =>
  new StateUnusable({ path: failed.path, detail: failed.detail, mend: mend(failed) })

/** Makes the folder with 0700 if it is missing, and refuses it unless it is private. */
export const privateFolder = Effect.fn("PrivateFiles.folder")(function*(folder: string) {
  yield* makeDirectory(folder, 0o700)
  yield* checkPrivate(folder, yield* look(folder), "folder")
}, Effect.mapError(unusable))

/** Reads a private file of at most `maxBytes`; the error's `absent` is kept apart by the caller. */
export const readPrivate = (file: string, maxBytes: number): Effect.Effect<Content, FileFailed> =>
  Effect.tap(readRegular(file, maxBytes), ({ stat }) => checkPrivate(file, stat, "file"))
