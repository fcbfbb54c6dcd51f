import ts from "typescript-eslint"

// The house of docs/architecture.md, enforced: imports point only downward, and what only an adapter or an
// entry may do (time, ids, promises, running effects) is an error elsewhere.
const entries = [
  ...["src/programs/extension.ts", "src/programs/core.ts", "src/programs/doctor/examine.ts"],
  ...["monitor/main.ts", "monitor/reading.ts", "monitor/doctor.ts"]
]

const zone = (files, patterns, ignores = []) => ({
  files,
  ignores,
  rules: { "no-restricted-imports": ["error", { patterns }] }
})
const room = (dirs, message) => ({ regex: `^(\\.\\.?/)+((src/)?(${dirs})/)`, message })
const adapters = {
  group: ["node:*", "@effect/platform-node*", "@earendil-works/*"],
  message: "Adapters live in src/layers."
}

const purity = {
  "no-restricted-globals": [
    "error",
    ...["process", "setTimeout", "setInterval", "setImmediate", "queueMicrotask", "fetch", "Buffer"].map((name) => ({
      name,
      message: "Use the service (Clock, Config, Ids, IntercomClient)."
    }))
  ],
  "no-restricted-properties": [
    "error",
    { object: "Date", property: "now", message: "Use Clock." },
    { object: "Math", property: "random", message: "Use Random." }
  ],
  "no-restricted-syntax": [
    "error",
    { selector: "NewExpression[callee.name='Date']", message: "Use Clock or DateTime." },
    { selector: "NewExpression[callee.name='Promise']", message: "Use Effect.async in a layer." },
    { selector: ":function[async=true]", message: "No async functions." },
    { selector: "AwaitExpression, TryStatement", message: "Effect only." },
    {
      selector: "CallExpression[callee.object.name='Effect'][callee.property.name=/^run/]",
      message: "Only entries run effects."
    }
  ]
}
const casts = {
  selector:
    "TSAsExpression[typeAnnotation.type!='TSTypeReference'], TSAsExpression:not([typeAnnotation.typeName.name='const']), TSTypeAssertion",
  message: "No type assertion but `as const`."
}

export default ts.config(
  { ignores: ["dist/**", "node_modules/**"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts"],
    languageOptions: { parser: ts.parser },
    plugins: { ts: ts.plugin },
    rules: {
      "ts/no-explicit-any": "error",
      "ts/no-non-null-assertion": "error",
      "ts/ban-ts-comment": "error",
      "no-restricted-syntax": ["error", casts]
    }
  },
  {
    files: ["src/{domain,services,programs}/**/*.ts", "monitor/**/*.ts"],
    ignores: entries,
    rules: { ...purity, "no-restricted-syntax": [...purity["no-restricted-syntax"], casts] }
  },
  {
    files: ["src/layers/**/*.ts"],
    rules: {
      ...purity,
      "no-restricted-globals": "off",
      "no-restricted-syntax": [...purity["no-restricted-syntax"], casts]
    }
  },
  zone(["src/domain/**/*.ts"], [
    room("services|layers|programs|monitor|test|scripts", "The domain imports nothing above it."),
    adapters,
    { group: ["@effect/platform*"], message: "The domain uses the effect core only." }
  ]),
  zone(["src/services/**/*.ts"], [
    room("layers|programs|monitor|test|scripts", "Services import the domain only."),
    adapters
  ]),
  zone(["src/layers/**/*.ts"], [room("programs|monitor|test|scripts", "Layers never import programs.")]),
  zone(
    ["src/programs/**/*.ts"],
    [room("layers|monitor|test|scripts", "Programs name no layer."), adapters],
    entries
  ),
  zone(["src/programs/extension.ts"], [
    room("domain|services|layers|monitor|test|scripts", "The thin entry imports the host and the core only."),
    { group: ["effect", "effect/*", "@effect/*"], message: "No Effect in the thin entry." }
  ]),
  zone(["src/programs/core.ts", "src/programs/doctor/examine.ts"], [
    room("monitor|test|scripts", "The core composes layers and programs."),
    {
      group: ["@earendil-works/*"],
      message: "The host's modules are passed in by the thin entry.",
      allowTypeImports: true
    }
  ]),
  zone(
    ["monitor/**/*.ts"],
    [
      room("layers|programs|test|scripts", "The monitor uses domain and services."),
      { group: ["node:*", "@effect/platform*"], message: "Adapters live in src/layers." },
      { group: ["@earendil-works/*"], message: "No Pi in the monitor." }
    ],
    entries
  ),
  zone(["monitor/main.ts", "monitor/reading.ts"], [
    room("programs|test|scripts", "The monitor's entries compose layers."),
    { group: ["@earendil-works/*"], message: "No Pi in the monitor." }
  ]),
  // The doctor's program and `/intercom doctor` share one examination, src/programs/doctor; it is no part of the monitor.
  zone(["monitor/doctor.ts"], [
    room("test|scripts", "The doctor's entry composes layers and its program."),
    { regex: "/src/programs/(?!doctor/|Present)", message: "Of the programs the doctor runs its own only." },
    { group: ["@earendil-works/*"], message: "No Pi in the doctor's program." }
  ]),
  zone(["scripts/**/*.ts"], [room("monitor", "Scripts drive the product from outside.")], [
    "scripts/bench/**",
    "scripts/picture.ts"
  ])
)
