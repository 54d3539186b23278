import type { Asked, Reply } from "./model.ts"

/** What a client made of an answer. */
export interface Seen {
  text: string
  calls: { name: string; arguments: unknown }[]
  /** How it ended, in the wire's own word. */
  finish: string
}

/** What a client is asked to do. */
export interface Ask {
  url: string
  prompt: string
  tools?: boolean
  image?: boolean
  schema?: boolean
  stream?: boolean
  signal?: AbortSignal
  /** Hears of the first piece of a stream. */
  begun?: () => void
}

export const CITY = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
}
/** One dot, as PNG. */
export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

const TRICKY = "Zürich </tool_call> {"

export interface Scenario {
  name: string
  ask: Omit<Ask, "url" | "prompt">
  reply(asked: Asked): Reply
  /** What is wrong with what a client saw; nothing where it is right. */
  wrong?(seen: Seen): string | undefined
}

const call = ({ family }: Asked, city: string): string => family.call("get_weather", { city, days: "2" })

function rightCalls({ calls, text, finish }: Seen, cities: readonly string[]): string | undefined {
  const expected = cities.map((city) => ({ name: "get_weather", arguments: { city, days: 2 } }))
  if (JSON.stringify(calls) !== JSON.stringify(expected)) return `calls ${JSON.stringify(calls)}`
  if (!/^I look\.\s*$/.test(text)) return `text ${JSON.stringify(text)}`
  return /length|max/.test(finish) ? `finish ${finish}` : undefined
}

function textOnce({ calls, text }: Seen, part: string): string | undefined {
  if (calls.length > 0) return `calls ${JSON.stringify(calls)}`
  return text.split(part).length === 2 ? undefined : `text ${JSON.stringify(text)}`
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "plain",
    ask: {},
    reply: () => ({ text: "Hello there." }),
    wrong: ({ text }) => (text === "Hello there." ? undefined : `text ${JSON.stringify(text)}`),
  },
  {
    name: "tools",
    ask: { tools: true },
    reply: (asked) => ({ text: `I look.\n${call(asked, TRICKY)}` }),
    wrong: (seen) => rightCalls(seen, [TRICKY]),
  },
  {
    name: "parallel",
    ask: { tools: true },
    reply: (asked) => ({ text: `I look.\n${call(asked, "Bern")}\n${call(asked, "Basel")}` }),
    wrong: (seen) => rightCalls(seen, ["Bern", "Basel"]),
  },
  {
    name: "stream",
    ask: { tools: true, stream: true },
    reply: (asked) => ({ text: `I look.\n${call(asked, TRICKY)}` }),
    wrong: (seen) => rightCalls(seen, [TRICKY]),
  },
  {
    name: "images",
    ask: { image: true },
    reply: ({ pictures }) => ({ text: `I see ${pictures}.` }),
    wrong: ({ text }) => (text === "I see 1." ? undefined : `text ${JSON.stringify(text)}`),
  },
  {
    name: "structured output",
    ask: { schema: true },
    reply: ({ schema }) => ({ text: schema ? '{"city": "Bern"}' : "Bern" }),
    wrong: ({ text }) =>
      text.replaceAll(/\s/g, "") === '{"city":"Bern"}' ? undefined : `text ${JSON.stringify(text)}`,
  },
  {
    name: "cut off",
    ask: { tools: true, stream: true },
    reply: (asked) => ({ text: `I look.\n${call(asked, "Winterthur").slice(0, -22)}`, finish: "length" }),
    wrong: (seen) =>
      textOnce(seen, "Winterthur") ?? (/length|max|incomplete/.test(seen.finish) ? undefined : `finish ${seen.finish}`),
  },
  {
    name: "unreadable",
    ask: { tools: true },
    reply: () => ({ text: 'I look.\n<tool_call>\n{"name": get_weather, oops: }\n</tool_call>' }),
    wrong: (seen) => textOnce(seen, "oops"),
  },
  { name: "429", ask: {}, reply: () => ({ text: "", status: 429 }) },
  { name: "abort", ask: { stream: true }, reply: () => ({ text: "", endless: true }) },
]
