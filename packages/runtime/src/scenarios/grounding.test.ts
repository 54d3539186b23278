import { createScriptedBackend } from "@toolwright/backends"
import { matchesGbnf } from "@toolwright/logits"
import { defineTool } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createToolwright } from "../index.ts"
import { repositoryWith } from "../testing/repository.ts"

const call = (path: string): string =>
  `<tool_call>\n{"name": "file_read", "arguments": {"path": "${path}"}}\n</tool_call>`

const readFile = defineTool({
  name: "file_read",
  description: "Reads",
  parameters: { type: "object", properties: { path: { type: "string", grounded: "path" } }, required: ["path"] },
  execute: () => "one",
})

test.each([
  ["auto", false, [true, true]],
  ["auto", true, [true, false]],
  ["always", false, [true, false]],
  ["off", true, [true, true]],
] as const)("the setting model.grounding: %s, with a model that is small: %s", async (grounding, small, accepted) => {
  using repository = repositoryWith({ "a.txt": "one\n" })
  const backend = createScriptedBackend({
    model: "qwen2.5",
    abilities: { nativeTools: false, grammar: true, small },
    steps: [{ reply: "It says one." }],
  })
  await using toolwright = await createToolwright({
    model: { grounding },
    tools: [readFile],
    backend,
    cwd: repository.path,
    env: {},
    record: false,
  })
  for await (const event of toolwright.run("What does a.txt say?"))
    if (event.type === "run-end") expect(event.error).toBeUndefined()
  const grammar = backend.requests[0]!.grammar!
  expect([matchesGbnf(grammar, call("a.txt")), matchesGbnf(grammar, call("b.txt"))]).toEqual(accepted)
})
