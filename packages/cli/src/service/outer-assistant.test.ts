import { join } from "node:path"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createScriptedBackend, loadScreenplay } from "@toolwright/backends"
import { createToolwright, startTaskWorker } from "@toolwright/runtime"
import { expect, onTestFinished, test, vi } from "vitest"
import { PYTHON_FIBONACCI_TESTS, repositoryWith } from "../../../runtime/src/testing/repository.ts"
import { serveToolwright } from "./serve-toolwright.ts"

const SCREENPLAY = join(import.meta.dirname, "../../../runtime/src/scenarios/fixtures/fibonacci-python.yaml")
const TOKEN = "long-enough"

test("an outer assistant makes an agent over MCP, queues a task for it, and reads what came of it", async () => {
  const repo = repositoryWith({
    "tests/__init__.py": "",
    "tests/test_fibonacci.py": PYTHON_FIBONACCI_TESTS,
    ".gitignore": "__pycache__/\n.toolwright/\n",
  })
  const backend = createScriptedBackend(await loadScreenplay(SCREENPLAY))
  const made = { cwd: repo.path, withBuiltins: true, workspace: { roots: [repo.path] }, backend }
  const toolwright = await createToolwright(made)
  const served = await serveToolwright(toolwright, {
    port: 0,
    tokens: [{ token: TOKEN }],
    mcp: true,
    bundles: ["agents"],
  })
  const client = new Client({ name: "outer", version: "1" })
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { requestInit }))
  onTestFinished(async () => {
    await client.close()
    await served.close()
    await toolwright.close()
    repo[Symbol.dispose]()
  })
  const ask = async (action: string, args: object = {}) => {
    const { structuredContent, content, isError } = await client.callTool({
      name: "agents",
      arguments: { action, ...args },
    })
    const [first] = content as { text: string }[]
    return { failed: isError === true, said: first!.text, data: structuredContent as Record<string, unknown> }
  }
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["agents"])

  const agent = await ask("create", { name: "FibonacciAgent", specialized_files: ["fibonacci.py"] })
  expect(agent.data).toMatchObject({ name: "FibonacciAgent", files: ["fibonacci.py"] })
  const second = await ask("create", { name: "Second", specialized_files: ["fibonacci.py"] })
  expect(second).toMatchObject({ failed: true, said: expect.stringContaining("owned by 'FibonacciAgent'") })
  expect((await ask("queue_task", { agent: "Nobody", message: "x" })).failed).toBe(true)

  const message = "Create fibonacci function with proper error handling"
  const queued = await ask("queue_task", { agent: "FibonacciAgent", message, task_type: "code_generation" })
  expect(queued.data).toMatchObject({ status: "queued", depth: 0 })
  const { task_id: id } = queued.data
  expect((await ask("task_result", { task_id: id })).said).toContain("it has no result yet")

  const seen = new Set<unknown>()
  await using _worker = await startTaskWorker({ toolwright, made, idle: 20 })
  await vi.waitFor(
    async () => {
      const { status } = (await ask("task_status", { task_id: id })).data
      seen.add(status)
      expect(status).toBe("done")
    },
    { timeout: 120_000, interval: 50 },
  )
  expect([...seen]).toContain("running")
  expect((await ask("task_result", { task_id: id })).data).toEqual({
    success: true,
    content: "Code generation completed using MCP tools",
    agent_id: "FibonacciAgent",
    task_type: "code_generation",
    modified_files: expect.arrayContaining(["fibonacci.py"]) as string[],
  })
  expect(repo.git("log", "--format=%s")).toBe("Add fibonacci implementation\nBegin")
  expect((await ask("stats")).data).toEqual({ tasks: { done: 1 } })
  expect((await ask("list_tasks", { agent: "FibonacciAgent" })).data.tasks).toHaveLength(1)
}, 150_000)

test("without a token nobody lets agents work", async () => {
  const repo = repositoryWith({ "a.txt": "" })
  const toolwright = await createToolwright({ cwd: repo.path, withBuiltins: true })
  const served = await serveToolwright(toolwright, { port: 0, bundles: ["agents", "reading"] })
  onTestFinished(async () => {
    await served.close()
    await toolwright.close()
    repo[Symbol.dispose]()
  })
  expect(served.offered).not.toContain("agents")
})
