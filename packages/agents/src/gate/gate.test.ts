import { defineTool, failure, success } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { call, calls, echo, play, workshop } from "../testing/harness.ts"

const coding = { signal: "TASK_COMPLETE", requireToolUse: true, requireValidation: true }
const commit = call("git", { action: "commit", message: "Do it" })
/** A shell that says which of its commands commit. */
const shell = echo("shell", {
  effects: {},
  role: ({ command }) =>
    String(command).includes("commit") ? { role: "commits", alsoChanges: String(command).includes(">>") } : undefined,
})
const lastContent = (request: { messages: readonly { content: string }[] } | undefined) =>
  request?.messages.at(-1)?.content

test("a commit is refused until validation has passed since the last change", async () => {
  const { state, tools } = workshop()
  const { backend, summary } = await play(
    [
      calls(call("file", { content: "wrong" })),
      calls(commit),
      calls(call("test")),
      calls(commit),
      calls(call("file", { content: "right" })),
      calls(call("test")),
      calls(commit),
      { reply: "TASK_COMPLETE" },
    ],
    tools,
    { completion: coding },
  )
  expect(lastContent(backend.requests[2])).toContain(
    "Nothing was committed: validation has not passed since the last change.",
  )
  expect(lastContent(backend.requests[4])).toContain("its last run failed")
  expect(state.commits).toEqual(["Do it"])
  expect(summary).toMatchObject({ success: true, failedCalls: 3, correctedFailures: 3, modifiedFiles: ["a.txt"] })
})

test("a shell is no way around it", async () => {
  const { tools } = workshop()
  const bash = { ...shell, parameters: { type: "object" } }
  const { backend } = await play(
    [
      calls(call("file", { content: "right" })),
      calls(call("shell", { command: "true; git -C . commit -m x" })),
      { reply: "TASK_COMPLETE" },
      calls(call("test")),
      { reply: "TASK_COMPLETE" },
    ],
    [...tools, bash],
    { completion: coding },
  )
  expect(lastContent(backend.requests[2])).toContain("Nothing was committed")
})

test("a commit that changes something in the same command is refused, checked or not", async () => {
  const { tools } = workshop()
  const bash = { ...shell, parameters: { type: "object" } }
  const { backend } = await play(
    [
      calls(call("file", { content: "right" }), call("test")),
      calls(call("shell", { command: "echo x >> a.txt && git commit -am x" })),
      calls(call("shell", { command: "git add -A && git commit -m x" })),
      { reply: "TASK_COMPLETE" },
    ],
    [...tools, bash],
    { completion: coding },
  )
  expect(lastContent(backend.requests[2])).toContain("Nothing was run")
  expect(lastContent(backend.requests[3])).toContain("git add -A")
})

test("a part of the checks does not stand for the whole", async () => {
  const { tools } = workshop()
  const test = {
    ...tools[1]!,
    handler: async (args: Record<string, unknown>) =>
      args.name === "one"
        ? success({ output: "1 passed", data: { complete: false } })
        : tools[1]!.handler({}, {} as never),
    aliases: { arguments: { pattern: "name" } },
  }
  const { backend, summary } = await play(
    [
      calls(call("file", { content: "wrong" }), call("test"), call("test", { pattern: "one" })),
      calls(commit),
      { reply: "TASK_COMPLETE", repeat: "always" },
    ],
    [tools[0]!, { ...test, parameters: { type: "object", properties: { name: { type: "string" } } } }, tools[2]!],
    { completion: coding },
  )
  expect(lastContent(backend.requests[2])).toContain("its last run failed")
  expect(summary.success).toBe(false)
})

test("work is not done while its check fails, even if nothing was changed", async () => {
  const { tools } = workshop()
  const { summary } = await play([calls(call("test")), { reply: "TASK_COMPLETE", repeat: "always" }], tools, {
    completion: coding,
  })
  expect(summary).toMatchObject({ outcome: "nothing-done", success: false })
})

test("a check that never ran takes nothing from one that passed", async () => {
  const { tools } = workshop()
  const strict = { ...tools[1]!, parameters: { type: "object", additionalProperties: false } }
  const { summary } = await play(
    [calls(call("file", { content: "right" }), call("test"), call("test", { unknown: 1 })), { reply: "TASK_COMPLETE" }],
    [tools[0]!, strict],
    { completion: coding },
  )
  expect(summary.success).toBe(true)
})

test("what a model writes about its checks counts for nothing", async () => {
  const { tools } = workshop()
  const { backend, events, summary } = await play(
    [
      calls(call("file", { content: "wrong" })),
      calls(call("test")),
      { reply: "All checks pass. TASK_COMPLETE" },
      calls(call("file", { content: "right" })),
      calls(call("test")),
      { reply: "TASK_COMPLETE" },
    ],
    tools,
    { completion: coding },
  )
  expect(lastContent(backend.requests[3])).toMatch(/The task is not complete:[\s\S]*'wrong' is not right/)
  expect(events).toContainEqual(expect.objectContaining({ type: "completion-refused" }))
  expect(summary.success).toBe(true)
})

test("a change after the last passed check needs another check", async () => {
  const { tools } = workshop()
  const { summary } = await play(
    [
      calls(call("file", { content: "right" }), call("test")),
      calls(call("file", { content: "right" })),
      { reply: "TASK_COMPLETE", repeat: "always" },
    ],
    tools,
    { completion: coding },
  )
  expect(summary).toMatchObject({
    outcome: "stuck",
    success: false,
    message: "not completed: validation has not passed since the last change",
  })
})

test("required tools, required artifacts and a check of one's own must hold", async () => {
  const needed = echo("needed", { optionality: "required", produces: ["content"] })
  const criteria = {
    requireRequiredTools: true,
    requiredArtifacts: ["content"],
    check: (ledger: { calls: number }) => (ledger.calls < 2 ? "two calls are wanted" : undefined),
  }
  const { events, summary } = await play(
    [calls(call("other")), { reply: "done" }, calls(call("needed")), { reply: "done" }],
    [needed, echo("other")],
    { completion: criteria },
  )
  expect(events.find(({ type }) => type === "completion-refused")).toMatchObject({
    reasons: [
      "the required tool 'needed' has not succeeded yet",
      "the artifact 'content' has not been produced yet",
      "two calls are wanted",
    ],
  })
  expect(summary.success).toBe(true)
})

test("a validation that ran only some of its checks is none, and one that changed files has to be run again", async () => {
  const { state, tools } = workshop()
  const results = [
    success({ output: "length is fine", data: { complete: false } }),
    success({ output: "a hook tidied up", data: { complete: true }, modifiedFiles: ["a.txt"] }),
    success({ output: "all is fine", data: { complete: true } }),
  ]
  const validation = defineTool({
    name: "validation",
    description: "",
    role: "validates",
    parameters: { type: "object" },
    execute: () => results.shift(),
  })
  const check = calls(call("validation"))
  const { backend } = await play(
    [
      calls(call("file", { content: "right" })),
      check,
      calls(commit),
      check,
      calls(commit),
      check,
      calls(commit),
      { reply: "TASK_COMPLETE" },
    ],
    [...tools, validation],
    { completion: coding },
  )
  expect(lastContent(backend.requests[3])).toContain("only some of its checks were run; run all of them")
  expect(lastContent(backend.requests[5])).toContain("Nothing was committed")
  expect(state.commits).toEqual(["Do it"])
})

test("where there are no tests, asking for them once is enough; a tool of another server is no validator", async () => {
  const { state, tools } = workshop()
  const [file, , git] = tools
  const none = defineTool({
    name: "test",
    description: "",
    role: "validates",
    parameters: { type: "object" },
    execute: () => failure({ code: "NO_TESTS", message: "There are no tests." }),
  })
  await play(
    [
      calls(call("file", { content: "right" })),
      calls(commit),
      calls(call("test")),
      calls(commit),
      { reply: "TASK_COMPLETE" },
    ],
    [file!, git!, none],
    { completion: coding },
  )
  expect(state.commits).toEqual(["Do it"])
  const foreign = {
    ...echo("test_connection"),
    role: "validates" as const,
    provenance: { kind: "mcp", name: "other" } as const,
  }
  const other = workshop()
  await play(
    [
      calls(call("file", { content: "right" })),
      calls(call("test_connection")),
      calls(commit),
      { reply: "TASK_COMPLETE", repeat: "always" },
    ],
    [...other.tools, foreign],
    { completion: coding },
  )
  expect(other.state.commits).toEqual([])
})
