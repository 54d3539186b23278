import { createScriptedBackend } from "@toolwright/backends"
import { DynamicExecutor, type ExecutorOptions } from "@toolwright/agents"
import { defineTool, failure, ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { runAsChat, type ReasoningEvent } from "./agent-run.ts"

/** The steps of a run as a client hears them, what it is told as text and in notes, and what it ends in. */
async function heard(
  steps: Parameters<typeof createScriptedBackend>[0]["steps"],
  { inForm = false, ...options }: Partial<ExecutorOptions> & { inForm?: boolean } = {},
) {
  const tools = new ToolRegistry()
  const parameters = { type: "object" } as const
  tools.register(defineTool({ name: "look", description: "", parameters, execute: () => "seen" }))
  const fails = () => failure({ code: "TOOL_FAILED", message: "The disk is full." })
  tools.register(defineTool({ name: "store", description: "", parameters, execute: fails }))
  const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
  const events: ReasoningEvent[] = []
  const notes: string[] = []
  let text = ""
  let thrown: unknown
  const output = inForm ? { output: { schema: { type: "object" as const } } } : {}
  try {
    const run = new DynamicExecutor({ backend, tools, ...options }).run({ task: "look", ...output })
    for await (const step of runAsChat(run, inForm)) {
      if (step.type === "step") events.push(step.event)
      if (step.type === "text-delta") text += step.text
      if (step.type === "note") notes.push(step.note.code)
    }
  } catch (error) {
    thrown = error
  }
  return { events, thrown, text, notes }
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

const call = (name: string) => ({ reply: { calls: [{ name, arguments: {} }] } })

test("a model's word that all is done is followed by what was not", async () => {
  const failed = await heard([call("store"), { reply: "It is stored." }])
  expect(failed.text).toBe(
    "It is stored.\n\n[completed-with-failures: 'store' failed and was not put right: The disk is full.]",
  )
  expect(failed.notes).toEqual(["completed-with-failures", "TOOL_FAILED"])
  const idle = await heard([{ reply: "All is done. DONE", repeat: "always" }], {
    completion: { signal: "DONE", requireToolUse: true },
  })
  expect(idle.text).toMatch(/^All is done\. DONE\n\n\[(?:no-tool-use|nothing-done): .+\]$/)
  expect(idle.notes).toHaveLength(1)
})

test("rounds stand apart, and one that only repeats the words before it is told once", async () => {
  const completion = { signal: "DONE", requireToolUse: true }
  const says = (text: string) => ({ reply: { text, chunks: 7 } })
  const both = { reply: { text: "I look again.", chunks: 3, calls: [{ name: "look", arguments: {} }] } }
  const { text } = await heard(
    [says("I look."), says("I look."), both, says("I look"), says("I look"), says("DONE I think.")],
    { completion },
  )
  expect(text).toBe("I look.\n\nI look again.\n\nI look\n\nDONE I think.")
})

test("an answer in a form stays in it, and a note says what its values do not", async () => {
  const { text, notes } = await heard([call("store"), { reply: '{"stored":true}' }], { inForm: true })
  expect(JSON.parse(text)).toEqual({ stored: true })
  expect(notes).toEqual(["completed-with-failures", "TOOL_FAILED"])
})

test("where the model's word is true nothing is added to it", async () => {
  const honest = await heard([call("look"), { reply: "It is seen." }])
  expect([honest.text, honest.notes]).toEqual(["It is seen.", []])
})
