import { defineTool, type ToolDefinition } from "@toolwright/toolbox"

/** Answers with what it was given: the smallest tool there is, for trying out a connection. */
export const echo: ToolDefinition = defineTool({
  name: "echo",
  sets: ["examples"],
  title: "Echo",
  description: "Answers with the message it was given and its length. For trying out that tool calls work.",
  category: "utility",
  optionality: "optional",
  usageHint: "Use when: it is to be tested whether tools can be called. Don't use when: anything else is to be done.",
  tags: ["example", "test"],
  effects: { readOnly: true, idempotent: true },
  parameters: {
    type: "object",
    properties: { message: { type: "string", description: "The text to send back" } },
    required: ["message"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { echo: { type: "string" }, length: { type: "integer", description: "Characters in the message" } },
    required: ["echo", "length"],
  },
  examples: [{ description: "Say hello", input: { message: "hello" }, output: { echo: "hello", length: 5 } }],
  execute: ({ message }) => ({ echo: message, length: [...(message as string)].length }),
})
