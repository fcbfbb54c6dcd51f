// What a worker's program sees, published by a rename; then it stays, as Pi would.
const fs = require("node:fs")
const out = process.env.PROBE_OUT
const seen = { argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, pid: process.pid }
fs.writeFileSync(`${out}.tmp`, JSON.stringify(seen))
fs.renameSync(`${out}.tmp`, out)
setInterval(() => {}, 1e6)
