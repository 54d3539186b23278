import { expect, test } from "vitest"
import { formatterById } from "../index.ts"

/** The arguments as they stream in, joined. */
function streamed(argumentsText: string, size: number): string {
  const reply = `<tool_call>\n{"name": "t", "arguments": ${argumentsText}}\n</tool_call>`
  const parser = formatterById("hermes").createParser()
  const pieces = reply.match(new RegExp(`[^]{1,${size}}`, "g"))!
  const events = [...pieces.flatMap((piece) => [...parser.push(piece)]), ...parser.end()]
  return events.flatMap((event) => (event.type === "args-delta" ? [event.text] : [])).join("")
}

test.each([
  [
    '{"a": "x", "b": [1, 2,  3],\n  "c": {"d": null , "e": 1}}',
    '{"a": "x", "b": [1, 2,  3],\n  "c": {"d": null , "e": 1}}',
  ],
  ['{"a": [1, 2, ], "b": 1,  }', '{"a": [1, 2 ], "b": 1  }'],
])("JSON streams through as it was written, but for a comma too many: %s", (given, expected) => {
  for (const size of [1, 3, 1000]) expect(streamed(given, size)).toBe(expected)
})
