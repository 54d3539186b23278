/** `count_words` as a file's name, `count-words`. */
export const fileName = (name: string): string => name.replaceAll("_", "-")

/** `count_words` as a variable, `countWords`. */
export const variable = (name: string): string =>
  name.replaceAll(/[_-]+(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A tool that gives back what it is given, to be made into one that does something. */
export const toolFile = (name: string): string => `import { defineTool } from "toolwright"

export const ${variable(name)} = defineTool({
  name: "${name}",
  // A model chooses the tool by this line: say what it does.
  description: "Gives a text back as it came (${name}: say here what it does)",
  // What it may do to the world: this one only reads. Leave readOnly out where it changes something.
  effects: { readOnly: true, idempotent: true },
  sets: ["general", "reading"],
  // What it is given, as a JSON Schema; a call that does not fit never comes as far as execute.
  parameters: {
    type: "object",
    properties: { text: { type: "string", description: "The text" } },
    required: ["text"],
    additionalProperties: false,
  },
  examples: [{ description: "Give back a greeting", input: { text: "hello" } }],
  // What it does goes here. The second argument has files, fetch, programs and more, which keep the rules.
  async execute({ text }) {
    return { text }
  },
})
`

/** Holds what the tool does, and that a call which does not fit is refused. */
export const toolTest = (name: string): string => `import assert from "node:assert/strict"
import { test } from "node:test"
import { createToolwright } from "toolwright"
import { ${variable(name)} } from "../tools/${fileName(name)}.ts"

test("${name} gives back the text that it is given, and needs one", async () => {
  const toolwright = await createToolwright({ tools: [${variable(name)}], record: false })
  const { data } = await toolwright.registry.execute("${name}", { text: "hello" })
  assert.deepEqual(data, { text: "hello" })
  const without = await toolwright.registry.execute("${name}", {})
  assert.equal(without.error?.code, "INVALID_ARGUMENTS")
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
