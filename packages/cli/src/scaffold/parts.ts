/** `count_words` as a file's name, `count-words`. */
export const fileName = (name: string): string => name.replaceAll("_", "-")

/** `count_words` as a variable, `countWords`. */
export const variable = (name: string): string =>
  name.replaceAll(/[_-]+(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A tool that reads a file, to be made into another one. */
export const toolFile = (name: string): string => `import { defineTool } from "toolwright"

export const ${variable(name)} = defineTool({
  name: "${name}",
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
    const text = await files.read(String(path))
    return { words: text.split(/\\s+/).filter(Boolean).length }
  },
})
`

export const toolTest = (name: string): string => `import assert from "node:assert/strict"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createToolwright } from "toolwright"
import { ${variable(name)} } from "../tools/${fileName(name)}.ts"

test("${name} counts the words of a file, and reads none outside its folder", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "${fileName(name)}-"))
  writeFileSync(join(cwd, "a.txt"), "one two three\\n")
  const toolwright = await createToolwright({ tools: [${variable(name)}], cwd, record: false })
  const { data } = await toolwright.registry.execute("${name}", { path: "a.txt" })
  assert.deepEqual(data, { words: 3 })
  const outside = await toolwright.registry.execute("${name}", { path: "/etc/hosts" })
  assert.equal(outside.error?.code, "ACCESS_DENIED")
  await toolwright.close()
})
`

/** An agent as data: it reads, and answers. */
export const agentFile = (
  name: string,
): string => `# ${name}: an agent of your own. docs/agents.md tells what else can be said.
description: Says what is in this folder
from: assistant
mode: reads
prompt:
  identity: You look at files and say what they are for.
  mode: Use tools; do not guess what a tool can tell you.
  output: A few plain words for each file.
tools:
  sets: [reading]
limits:
  rounds: 15
done:
  toolUse: true
`

/** A format as data. */
export const formatFile = (name: string): string => `import type { Format } from "toolwright/formats"

/** How the family is told of tools and writes calls; docs/adding-a-format.md tells what else can be said. */
export const ${variable(name)}: Format = {
  id: "${name}",
  aliases: [],
  title: "name|{…} between <<calls>> and <<end>>: ${name}",
  calls: [
    {
      codec: "named",
      wrapper: { open: ["<<calls>>"], close: ["<<end>>"] },
      together: true,
      layout: { between: "\\n" },
      open: [""],
      middle: ["|"],
      close: [],
    },
  ],
  reasoning: { open: ["<<hm>>"], close: ["<</hm>>"] },
  ids: "call",
  stop: ["<<result>>"],
  prompt: (tools, call) =>
    \`Tools:\\n\${tools.map((tool) => \`- \${tool.name} \${JSON.stringify(tool.parameters)}\`).join("\\n")}\\nCall them so:\\n\${call}\\n\`,
  result: (call, result) => \`<<result>>\${call.name}: \${result.output}\`,
  templateMarkers: [["<<calls>>"]],
}
`

export const promptFile = (name: string): string => `name: ${name}
description: What it is for, in one line
arguments:
  - name: text
    required: true
    description: What it is about
  - name: language
    required: false
    description: The language of the answer
template: |
  Say in three sentences what matters in this text. {language}

  {text}
`
