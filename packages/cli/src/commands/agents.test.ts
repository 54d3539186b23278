import { createToolwright } from "@toolwright/runtime"
import { agentRegistry } from "@toolwright/store"
import { expect, onTestFinished, test } from "vitest"
import { serveToolwright } from "../service/serve-toolwright.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

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
