import { defineTool, success } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { FileOwningAgent } from "../agent/file-owning-agent.ts"
import { DynamicExecutor } from "../executor/executor.ts"
import { PROFILES } from "../profiles/index.ts"
import { givenTask } from "../profiles/owned.ts"
import { call, calls, play, registryOf } from "../testing/harness.ts"
import { createScriptedBackend } from "@toolwright/backends"

/** Tools that note what they did: one that says where it writes, one that says nothing of what it does. */
function tools() {
  const done: string[] = []
  const act = (name: string, effects: object) =>
    defineTool({
      name,
      description: name,
      sets: ["owner", "general"],
      effects,
      parameters: { type: "object", properties: { path: { type: "string" } } },
      execute: ({ path }) => {
        done.push(`${name} ${String(path)}`)
        return success({ output: "ok", modifiedFiles: name === "write" ? [String(path)] : [] })
      },
    })
  // Without these two an owner could never be done, and would not begin.
  const rest = [
    { ...act("check", {}), role: "validates" as const },
    { ...act("commit", {}), role: "commits" as const },
  ]
  return {
    done,
    list: [act("write", { writes: ["path"] }), act("program", {}), act("look", { readOnly: true }), ...rest],
  }
}

describe("an agent that only reads", () => {
  const readers = PROFILES.filter(({ changesWorkspace }) => !changesWorkspace)

  test("there are two", () => expect(readers.map(({ name }) => name)).toEqual(["reviewer", "triager"]))

  test.each(readers)("$name, given tools that write, changes nothing", async (profile) => {
    const { done, list } = tools()
    const { access, completion } = givenTask({ ...profile, tools: {} }, "Look at it")
    const steps = [calls(call("write", { path: "a.txt" })), calls(call("program")), calls(call("look", { path: "a" }))]
    const { events } = await play([...steps, { reply: "TASK_COMPLETE" }], list, { access, completion })
    expect(done).toEqual(["look a"])
    const codes = events.flatMap((event) => (event.type === "tool-end" ? [event.result.error?.code] : []))
    expect(codes).toEqual(["READ_ONLY_AGENT", "READ_ONLY_AGENT", undefined])
  })
})

describe("an agent that owns files", () => {
  async function owning(files: readonly [string, ...string[]], ...made: ReturnType<typeof call>[]) {
    const { done, list } = tools()
    const backend = createScriptedBackend(
      { steps: [...made.map((one) => calls(one)), { reply: "TASK_COMPLETE", repeat: "always" }] },
      { abilities: { nativeTools: true, grammar: false, jsonSchema: false } },
    )
    const agent = new FileOwningAgent({
      agentId: "owner",
      specializedFiles: files,
      tools: registryOf(...list),
      backend,
    })
    const response = await agent.handle({ message: "Write it", task_type: "code" })
    return { done, response, prompt: backend.requests[0]!.messages.map(({ content }) => content).join("\n") }
  }

  test("writes all of them, and no other", async () => {
    const { done, prompt } = await owning(
      ["a.py", "b.py"],
      call("write", { path: "a.py" }),
      call("write", { path: "./b.py" }),
      call("write", { path: "c.py" }),
      call("write", { path: "deep/a.py" }),
      call("program"),
    )
    expect(done).toEqual(["write a.py", "write ./b.py"])
    expect(prompt).toContain("You own the file a.py and what belongs to it, b.py, and write nothing else.")
  })

  test("a whole path is owned where it is the file itself, and not where it ends alike", async () => {
    const { done, list } = tools()
    const writes = ["/ws/docs/a.py", "/ws/a.py", "/ws/docs/../a.py", "/else/a.py", "/a.py"]
    const steps = writes.map((path) => calls(call("write", { path })))
    await play([...steps, { reply: "TASK_COMPLETE" }], list, { access: { owns: ["a.py"] }, root: "/ws" })
    expect(done).toEqual(["write /ws/a.py"])
  })

  test("is not done by writing nothing", async () => {
    const { response } = await owning(["a.py"], call("look", { path: "a.py" }))
    expect(response.success).toBe(false)
    expect(response.content).toContain("a.py has not been written yet")
  })

  test("has to be told which, and no other agent owns any", () => {
    const owner = PROFILES.find(({ ownsFiles }) => ownsFiles === true)!
    expect(() => givenTask(owner, "Write it")).toThrow(
      expect.objectContaining({ code: "FILES_NEEDED", hint: expect.stringContaining("files: [src/area.py]") }),
    )
    const builder = PROFILES.find(({ name }) => name === "builder")!
    expect(() => givenTask(builder, "Write it", ["a.py"])).toThrow(expect.objectContaining({ code: "FILES_NOT_OWNED" }))
  })
})

test("whoever makes an executor without saying so may change everything, as before", async () => {
  const { done, list } = tools()
  const backend = createScriptedBackend(
    { steps: [calls(call("write", { path: "a" })), { reply: "ok" }] },
    { abilities: { nativeTools: true, grammar: false, jsonSchema: false } },
  )
  await new DynamicExecutor({ tools: registryOf(...list), backend }).complete({ task: "x" })
  expect(done).toEqual(["write a"])
})
