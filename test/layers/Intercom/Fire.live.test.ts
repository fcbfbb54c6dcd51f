import { fire } from "./Fire.ts"

fire(1000, Number(process.env["PI_INTERCOM_FIRE_SEED"] ?? 20_251_102))
