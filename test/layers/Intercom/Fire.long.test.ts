import { fire } from "./Fire.ts"

// Another seed each time, named in the titles: PI_INTERCOM_FIRE_SEED makes a run again.
fire(10_000, Number(process.env["PI_INTERCOM_FIRE_SEED"] ?? Date.now() % 2 ** 31))
