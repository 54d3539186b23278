import { createScriptedBackend } from "@toolwright/backends"
import { DynamicExecutor } from "@toolwright/agents"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { runAsChat, type ReasoningEvent } from "./agent-run.ts"

/** The steps of a run as a client hears them, and what it ends in. */
async function heard(steps: Parameters<typeof createScriptedBackend>[0]["steps"]) {
  const tools = new ToolRegistry()
  const parameters = { type: "object" } as const
  tools.register(defineTool({ name: "look", description: "", parameters, execute: () => "seen" }))
  const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
  const events: ReasoningEvent[] = []
  let thrown: unknown
  try {
    for await (const step of runAsChat(new DynamicExecutor({ backend, tools }).run({ task: "look" })))
      if (step.type === "step") events.push(step.event)
  } catch (error) {
    thrown = error
  }
  return { events, thrown }
}

test("a run that fails after a round says so as a step, before it ends with the failure", async () => {
  const { events, thrown } = await heard([
    { reply: { calls: [{ name: "look", arguments: {} }] } },
    { reply: { error: { status: 404 } } },
  ])
  expect(events.map(({ type, step_iteration: round }) => `${round} ${type}`)).toEqual([
    "1 iteration_start",
    "1 planning",
    "1 tool_execution_start",
    "1 tool_result",
    "1 iteration_complete",
    "2 iteration_start",
    "2 error",
  ])
  expect(events.at(-1)!.metadata).toEqual({ code: "MODEL_NOT_FOUND", message: expect.stringContaining("404") })
  expect(thrown).toMatchObject({ code: "MODEL_NOT_FOUND" })
})
