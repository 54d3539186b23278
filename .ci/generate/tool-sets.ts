/** Forty tool sets of our own: a small world of words, put together the same way each time. */

export interface ToolSet {
  source: string
  tools: { name: string; description: string; parameters: Record<string, unknown> }[]
  tests: { data: { name: string; arguments: Record<string, unknown> }; valid: boolean; why?: string }[]
}

type Value = { schema: Record<string, unknown>; good: readonly unknown[]; bad: readonly unknown[] }

/** Kinds of arguments: what the schema says, what is right, what is wrong. */
const KINDS: Readonly<Record<string, Value>> = {
  text: {
    schema: { type: "string" },
    good: [
      "plain",
      'with "quotes" and \\ signs',
      "two\nlines\tand a tab",
      "Ærø, 北京, 🐍",
      "",
      "a < b && c > d",
      "{not: json}",
    ],
    bad: [7, null, ["x"]],
  },
  short: {
    schema: { type: "string", minLength: 2, maxLength: 12 },
    good: ["ab", "twelve chars"],
    bad: ["a", "thirteen chars"],
  },
  code: {
    schema: { type: "string", pattern: "^[A-Z]{2}-[0-9]{3,5}$" },
    good: ["AB-123", "XY-98765"],
    bad: ["ab-123", "AB-12", "AB-123 "],
  },
  day: {
    schema: { type: "string", format: "date" },
    good: ["2026-02-28", "2024-02-29"],
    bad: ["2026-02-29", "28.2.2026"],
  },
  choice: { schema: { enum: ["low", "middle", "high"] }, good: ["low", "high"], bad: ["Low", "none", 1] },
  count: { schema: { type: "integer", minimum: 0, maximum: 500 }, good: [0, 7, 500], bad: [-1, 501, 1.5, "7"] },
  share: { schema: { type: "number", exclusiveMinimum: 0, maximum: 1 }, good: [0.5, 1, 0.001], bad: [0, 1.01, "half"] },
  flag: { schema: { type: "boolean" }, good: [true, false], bad: ["true", 1] },
  maybe: { schema: { type: ["integer", "null"] }, good: [null, 3], bad: ["null", 2.5] },
  words: {
    schema: { type: "array", items: { type: "string" }, minItems: 1 },
    good: [["a"], ["x, y", "z]"]],
    bad: [[], [1], "a"],
  },
  place: {
    schema: {
      type: "object",
      properties: {
        street: { type: "string" },
        number: { type: "integer" },
        tags: { type: "array", items: { enum: ["home", "work"] } },
      },
      required: ["street"],
      additionalProperties: false,
    },
    good: [{ street: "Long Lane" }, { street: "O'Hara's", number: 12, tags: ["home", "work"] }],
    bad: [{ number: 3 }, { street: "x", town: "y" }, { street: "x", tags: ["shop"] }],
  },
  either: {
    schema: {
      anyOf: [
        { type: "integer" },
        { type: "object", properties: { from: { type: "integer" }, to: { type: "integer" } }, required: ["from"] },
      ],
    },
    good: [4, { from: 1, to: 9 }],
    bad: ["four", { to: 9 }],
  },
}

const THINGS = [
  "parcel",
  "greenhouse",
  "ferry",
  "recipe",
  "orchard",
  "lantern",
  "library card",
  "sailing boat",
  "beehive",
  "tram line",
]
const DEEDS = [
  ["find", "Looks for a %"],
  ["book", "Books a % for a guest"],
  ["move", "Moves a % elsewhere"],
  ["measure", "Says how large a % is"],
] as const
const KIND_NAMES = Object.keys(KINDS)

export function toolSets(): ToolSet[] {
  return Array.from({ length: 40 }, (_, index) => {
    const thing = THINGS[index % THINGS.length]!
    const tools = Array.from({ length: 1 + (index % 3) }, (_, at) =>
      toolOf(thing, (index + at) % DEEDS.length, index * 5 + at * 7),
    )
    return { source: `own_${index}`, tools: tools.map(({ tool }) => tool), tests: tools.flatMap(({ tests }) => tests) }
  })
}

function toolOf(thing: string, deed: number, from: number) {
  const [verb, description] = DEEDS[deed]!
  const name = `${verb}_${thing.replaceAll(" ", "_")}`
  const kinds = Array.from({ length: 1 + (from % 4) }, (_, at) => KIND_NAMES[(from + at * 5) % KIND_NAMES.length]!)
  const keys = [...new Set(kinds)]
  const required = keys.slice(0, 1 + (from % keys.length))
  const parameters = {
    type: "object",
    properties: Object.fromEntries(
      keys.map((key) => [key, { ...KINDS[key]!.schema, description: `The ${key} of the ${thing}` }]),
    ),
    required,
    additionalProperties: false,
  }
  const good = (round: number, chosen: readonly string[]) =>
    Object.fromEntries(chosen.map((key, at) => [key, KINDS[key]!.good[(round + at) % KINDS[key]!.good.length]]))
  const data = (args: Record<string, unknown>) => ({ name, arguments: args })
  const wrong = keys[from % keys.length]!
  const bad = KINDS[wrong]!.bad[from % KINDS[wrong]!.bad.length]
  return {
    tool: { name, description: description.replace("%", thing), parameters },
    tests: [
      { data: data(good(from, keys)), valid: true },
      { data: data(good(from + 1, required)), valid: true },
      { data: data({ ...good(from, keys), [wrong]: bad }), valid: false, why: `${wrong} is wrong` },
      { data: data({}), valid: false, why: `${required.join(", ")} missing` },
      { data: data({ ...good(from, required), unknown: 1 }), valid: false, why: "an argument nobody declared" },
    ],
  }
}
