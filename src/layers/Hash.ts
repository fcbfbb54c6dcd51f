import { createHash } from "node:crypto"

/** base64url of the sha256 of a body: what requests and answers sign of it (spec 2.2). */
export const bodyHash = (body: string | Buffer): string => createHash("sha256").update(body).digest("base64url")

/** The first 24 hex digits of the sha256 of a text: what names a root's folder or a session's file (spec 1.3, 3.2). */
export const nameHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24)
