import { createScriptedBackend } from "@toolwright/backends"
import { createToolwright } from "@toolwright/runtime"
import { agentRegistry } from "@toolwright/store"
import { expect, onTestFinished, test } from "vitest"
import { serveToolwright } from "../service/serve-toolwright.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"
import { SURFACES, surface } from "../testing/surfaces.ts"

test("an agent is made, listed, shown, given a task and removed, and every refusal says what to do", async () => {
  const cwd = folderWith({})
  const run = (...args: string[]) => here(["agents", ...args], { cwd })
  expect((await run("create", "AreaAgent", "--file", "src/area.py")).stdout).toContain("owns src/area.py")
  expect((await run()).stdout).toMatch(/AreaAgent +made +its own files +owns src\/area.py/)
  expect((await run("show", "AreaAgent")).stdout).toContain("owns     src/area.py")
  const shown = (await run("show", "reviewer")).stdout
  expect(shown).toMatch(/^ {2}tools {4}\w+(, \w+)+,\n {11}\w+/m)
  expect(shown).toContain("git_diff")
  expect(shown, "it changes nothing").not.toContain("write_file")
  expect(await run("create", "Other", "--file", "src/area.py")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("toolwright agents remove AreaAgent"),
  })
  const added = await here(["tasks", "add", "add a circle", "--agent", "AreaAgent"], { cwd })
  expect(added).toMatchObject({ code: 0, stderr: "" })
  expect((await run("remove", "AreaAgent")).stderr).toContain(`toolwright tasks cancel ${added.stdout.trim()}`)
  await here(["tasks", "cancel", added.stdout.trim()], { cwd })
  expect((await run("remove", "AreaAgent")).stdout).toBe("removed AreaAgent; src/area.py is free again\n")
  expect((await run("remove", "builder")).stderr).toContain("was not made here")
  expect(await here(["tasks", "add", "x", "--agent", "AreaAgnt"], { cwd })).toMatchObject({ code: 2 })
})

test("an agent of one's own is shown with the tools that it is made for, also where no model is configured", async () => {
  const cwd = folderWith({ "explainer.yaml": "name: explainer\nmode: reads\nprompt: You explain.\n" })
  const show = async () => (await here(["agents", "show", "explainer", "--agents", "explainer.yaml"], { cwd })).stdout
  const shown = await show()
  expect(shown).toContain("file_read")
  for (const name of ["write_file", "file_write", "bash", "append_file"]) expect(shown).not.toContain(name)
})

test("over HTTP agents are made and removed with a token, and only read without one", async () => {
  const cwd = folderWith({})
  const toolwright = await createToolwright({ cwd, withBuiltins: true })
  onTestFinished(() => toolwright.close())
  const served = await serveToolwright(toolwright, { port: 0, tokens: [{ token: "long-enough" }] })
  onTestFinished(() => served.close())
  const ask = async (path: string, method = "GET", body?: object, token = "long-enough") => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${served.url}${path}`, { method, headers, ...sent })
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
  }
  const fibonacci = { name: "FibonacciAgent", specialized_files: ["fibonacci.py"] }
  expect(await ask("/agents", "POST", fibonacci)).toMatchObject({
    status: 201,
    json: { name: "FibonacciAgent", files: ["fibonacci.py"], from: "file-owner" },
  })
  expect(await ask("/agents", "POST", { name: "Second", files: ["fibonacci.py"] })).toMatchObject({
    status: 409,
    json: { error: { code: "FILE_OWNED" } },
  })
  expect((await ask("/agents", "POST", { files: ["a.py"] })).json.detail).toContain("needs a 'name'")
  expect(await ask("/agents", "POST", { name: "X", fils: [] })).toMatchObject({ status: 422 })
  const { agents } = (await ask("/agents")).json as { agents: { name: string }[] }
  expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(["builder", "FibonacciAgent"]))
  expect((await ask("/agents/FibonacciAgent")).json).toMatchObject({
    kind: "made",
    tools: expect.arrayContaining(["workspace"]),
  })
  const task = await ask("/tasks", "POST", { agent: "FibonacciAgent", input: "write it" })
  expect(task).toMatchObject({ status: 201, json: { state: "queued", depth: 0 } })
  expect((await ask("/agents/FibonacciAgent", "DELETE")).status).toBe(409)
  await ask(`/tasks/${String(task.json.id)}/cancel`, "POST", {})
  expect((await ask("/agents/FibonacciAgent", "DELETE")).status).toBe(200)
  expect((await ask("/agents/FibonacciAgent")).status).toBe(404)
  expect((await ask("/agents", "POST", fibonacci, "another-one")).status).toBe(401)
  const lost = { name: "Lost", profile: "gone", definition: {}, files: [] }
  await agentRegistry((await toolwright.log.open()).database, toolwright.tasks.workspace).createAll([lost])
  const shown = await ask("/agents/Lost")
  expect(shown).toMatchObject({ status: 200, json: { description: "Starts from 'gone', which is gone" } })
  expect(shown.json, "it cannot be offered anything").not.toHaveProperty("tools")
  expect(await ask("/runs/agents"), "it hides no other").toMatchObject({ status: 200 })
  const open = await serveToolwright(toolwright, { port: 0 })
  onTestFinished(() => open.close())
  const refused = await fetch(`${open.url}/agents`, { method: "POST", body: "{}" })
  expect({ status: refused.status, list: (await fetch(`${open.url}/agents`)).status }).toEqual({
    status: 401,
    list: 200,
  })
})

const JUDGES = `const tool = (name, handler) => ({
  name,
  description: name,
  category: "utility",
  optionality: "optional",
  effects: { readOnly: name !== "writes" },
  parameters: { type: "object", properties: { cause: { type: "string" } } },
  handler,
})
const done = (data) => ({ success: true, output: "", data, modifiedFiles: [], metadata: {}, executionTimeMs: 0 })
const failed = (message) => ({ ...done(), success: false, output: message, error: { code: "X", message } })
export const is_found = tool("is_found", async ({ cause }) => (cause.includes("a") ? done() : failed("that is no cause")))
export const short = tool("short", async ({ cause }) => done({ cause: cause.slice(0, 3) }))
export const writes = tool("writes", async () => done())
`

const judged = (check: string) => `agents:
  define:
    finder:
      prompt: You find.
      tools: { only: [file_read] }
      phases:
        - name: look
          handsOver:
            schema: { type: object, properties: { cause: { type: string } }, required: [cause] }
            check: ${check}
            sanitise: short
        - name: tell
`

test.each(SURFACES)("what a phase hands over is judged by the tools that its agent names: over %s", async (way) => {
  const cwd = folderWith({ "judges.mjs": JUDGES, "finder.yaml": judged("is_found").replace(/^[^]*finder:\n/, "") })
  const handOver = (cause: string) => ({ calls: [{ name: "hand_over", arguments: { cause } }] })
  const steps = [
    { reply: handOver("bug") },
    { expect: { result: "that is no cause" }, reply: handOver("a long story") },
    { expect: { user: "a l" }, reply: "Told." },
  ]
  const model = createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps })
  const database = `${cwd}/log.sqlite`
  const settings = { tools: [`${cwd}/judges.mjs`], agents: { files: [`${cwd}/finder.yaml`] } }
  const asked = await surface(way, { cwd, database, model, settings })
  await asked.run("find it", "finder")
  const { events } = await asked.record()
  expect(events.at(-1)).toMatchObject({ summary: { message: "Told.", artifacts: { look: { cause: "a l" } } } })
})

test.each([
  ["is_fond", "Did you mean 'is_found'?"],
  ["writes", "does not say that it only reads"],
])("a phase judged by '%s' is refused before the model is asked, and told what to do", async (check, said) => {
  const cwd = folderWith({ "judges.mjs": JUDGES, "toolwright.yaml": judged(check) })
  const model = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
  const ran = await here(["run", "x", "--agent", "finder", "--tools", "judges.mjs", "--trust", ...model], { cwd })
  expect(ran.code).not.toBe(0)
  expect(ran.stderr).toContain(said)
  const shown = await here(["agents", "show", "finder", "--trust"], { cwd })
  expect(shown.stdout).toContain(`look (hands over look, judged by ${check} and short)`)
})
