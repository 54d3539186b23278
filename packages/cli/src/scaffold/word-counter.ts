/** A tool that reads a file: the first one of a project. */
export const WORD_COUNTER = `import { defineTool } from "toolwright"

export const countWords = defineTool({
  name: "count_words",
  description: "Counts the words of a text file",
  usageHint: "Use when a text must keep to a length. Don't use for counting lines.",
  effects: { readOnly: true, idempotent: true, reads: ["path"] },
  sets: ["general", "reading"],
  parameters: {
    type: "object",
    properties: { path: { type: "string", description: "The file", grounded: "path" } },
    required: ["path"],
    additionalProperties: false,
  },
  examples: [{ description: "Count the words of the README", input: { path: "README.md" } }],
  async execute({ path }, { files }) {
    const text = await files.read(path)
    return { words: text.split(/\\s+/).filter(Boolean).length }
  },
})
`

export const WORD_COUNTER_TEST = `import assert from "node:assert/strict"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createToolwright } from "toolwright"
import { countWords } from "../tools/count-words.ts"

test("count_words counts the words of a file, and reads none outside its folder", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "count-words-"))
  writeFileSync(join(cwd, "a.txt"), "one two three\\n")
  const toolwright = await createToolwright({ tools: [countWords], cwd, record: false })
  const { data } = await toolwright.registry.execute("count_words", { path: "a.txt" })
  assert.deepEqual(data, { words: 3 })
  const outside = await toolwright.registry.execute("count_words", { path: "/etc/hosts" })
  assert.equal(outside.error?.code, "ACCESS_DENIED")
  await toolwright.close()
})
`
