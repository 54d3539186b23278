import type { Format } from "./syntax.ts"

/** What may be one token of its own: `<|name|>`, `<tag>`, `</tag>`, `[NAME]`, and forms with full-width bars. */
const TOKEN = /<[|｜][^<>]*[|｜]>|<\/?[^<>\s=]+>|\[\/?[A-Z_]+\]/g

/**
 * The marks of a format that may be tokens of their own, which servers leave out of plain text unless they are told to
 * keep them. Those that end a reply are not among them.
 */
export function marksOf({ calls, reasoning, headers, framing = [], stop }: Format): string[] {
  const found = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === "string") for (const [mark] of value.matchAll(TOKEN)) found.add(mark)
    else if (Array.isArray(value)) value.forEach(collect)
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect)
  }
  collect([calls, reasoning, headers, framing])
  return [...found].filter((mark) => !stop.includes(mark))
}
