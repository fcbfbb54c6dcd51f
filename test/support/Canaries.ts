import { randomInt } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"

/** A text that is nowhere else on earth. It travels in pieces, and each of them is told apart from everything else. */
export interface Canary {
  readonly what: string
  readonly pieces: ReadonlyArray<string>
  /** All of it. */
  readonly text: string
}

const letters = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + randomInt(26))).join("")
const ideographs = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(0x4e00 + randomInt(20_000))).join("")

/** A new one, of Latin letters and of ideographs; a fit name for a file, and one word. */
export const make = (what: string): Canary => {
  const pieces = [letters(12), ideographs(6), letters(12), ideographs(6)]
  return { what, pieces, text: pieces.join("") }
}

/** What base64 makes of these bytes wherever they lie in what is encoded, without what it mixes with their neighbours. */
const base64 = (bytes: Buffer): ReadonlyArray<string> =>
  [0, 1, 2].map((before) => {
    const coded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
    return coded.slice(Math.ceil(before * 8 / 6), Math.floor((before + bytes.length) * 8 / 6))
  })

const escaped = (text: string): string =>
  Array.from(text, (one) => one < "\u0080" ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

/** Each way in which a text can lie in a file, by its name. */
export const forms = (text: string): ReadonlyArray<readonly [string, Buffer]> => {
  const utf8 = Buffer.from(text)
  const hex = utf8.toString("hex")
  const percent = encodeURIComponent(text)
  const json = escaped(text)
  return [
    ["utf-8", utf8],
    ["utf-16", Buffer.from(text, "utf16le")],
    ...[json, json.replace(/u[0-9a-f]{4}/g, (code) => `u${code.slice(1).toUpperCase()}`)].map((one) =>
      ["json", Buffer.from(one)] as const
    ),
    ...[percent, percent.toLowerCase()].map((one) => ["percent", Buffer.from(one)] as const),
    ...[hex, hex.toUpperCase()].map((one) => ["hex", Buffer.from(one)] as const),
    ...base64(utf8).flatMap((one) =>
      [one, one.replaceAll("+", "-").replaceAll("/", "_")].map((form) => ["base64", Buffer.from(form)] as const)
    )
  ]
}

/** Where a canary was found: in a file, or in its name. */
export interface Found {
  readonly file: string
  readonly what: string
  readonly form: string
}

/** Searches every file below a folder, byte by byte, and its name, except those that are left out. */
export const search = (
  folder: string,
  canaries: ReadonlyArray<Canary>,
  leftOut: (file: string) => boolean = () => false
): { readonly files: ReadonlyArray<string>; readonly found: ReadonlyArray<Found> } => {
  const needles = canaries.flatMap(({ pieces, what }) =>
    pieces.flatMap((piece) => forms(piece).map(([form, bytes]) => ({ what, form, bytes })))
  )
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((file) => !leftOut(file))
  const found = files.flatMap((file) => {
    const bytes = Buffer.concat([Buffer.from(`${file}\n`), fs.readFileSync(path.join(folder, file))])
    return needles.filter((needle) => bytes.includes(needle.bytes)).map(({ form, what }) => ({ file, what, form }))
  })
  return { files, found }
}
