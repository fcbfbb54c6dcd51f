import { createServer } from "node:http"
import { listensOn } from "./Child.ts"

// The least that a receiver of JSON over HTTP does, on node:http alone.
const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString("utf8"))
    response.writeHead(202, { "content-type": "application/json" }).end("{\"accepted\":true}")
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) listensOn(address.port)
})
