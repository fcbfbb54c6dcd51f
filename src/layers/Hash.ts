import { createHash } from "node:crypto"

/** base64url of the sha256 of a body: what requests and answers sign of it (spec 2.2). */
export const bodyHash = (body: string | Buffer): string => createHash("sha256").update(body).digest("base64url")
