import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { serveBackend } from "@toolwright/backends"
import { createToolwright, startTaskWorker, type PlanView } from "@toolwright/runtime"
import { expect, onTestFinished, test, vi } from "vitest"
import { modelByAgent } from "../../../runtime/src/testing/by-agent.ts"
import { serveToolwright } from "../service/serve-toolwright.ts"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const PLAN = `name: notes
agents:
  Asker: { from: assistant, files: [asked.txt], tools: { only: [write_file] } }
  Slow: { from: assistant, files: [slow.txt], tools: { only: [write_file] } }
  Late: { from: assistant, files: [late.txt], tools: { only: [write_file] } }
  Last: { from: assistant, files: [last.txt], tools: { only: [write_file] } }
tasks:
  asked: { agent: Asker, task: "write it", priority: 2 }
  slow: { agent: Slow, task: "write it", priority: 1 }
  late: { agent: Late, task: "write it" }
  last: { agent: Last, task: "write it", after: [slow] }
`
const write = (path: string) => ({ calls: [{ name: "write_file", arguments: { path, content: "done\n" } }] })
const written = (path: string) => [{ reply: write(path) }, { expect: { success: true }, reply: "Written." }]

/** The command, with a hint in each line that is to be understood without any page. */
async function lines(args: string[], cwd: string) {
  const { code, stdout, stderr } = await here(args, { cwd })
  return { code, said: stdout + stderr }
}

test("a plan outlives its terminal: it is seen again, answered, a task cancelled, another resumed, and taken back", async () => {
  const cwd = folderWith({ "plan.yaml": PLAN, "toolwright.yaml": "permissions: { ask: [write_file] }\n" })
  const model = modelByAgent({
    "asked.txt": written("asked.txt"),
    "slow.txt": [{ reply: { text: "let me think", hang: true } }, ...written("slow.txt")],
    "late.txt": written("late.txt"),
    "last.txt": written("last.txt"),
  })
  const server = await serveBackend(model)
  onTestFinished(server.close)
  const as = ["--model", "qwen2.5-7b-instruct", "--base-url", server.baseUrl, "--approvals", "wait"]

  const checked = await lines(["plan", "check", "plan.yaml"], cwd)
  expect(checked).toEqual({
    code: 0,
    said: expect.stringMatching(/1\. asked, slow, late\n +2\. last\n4 tasks in 2 steps; nothing was started/),
  })

  const terminal = startCli(["plan", "run", "plan.yaml", "--concurrency", "2", ...as], { cwd })
  const [, id] = await terminal.until(/^(notes-\w+): you may close this terminal/m)
  await terminal.until(/asked +needs-approval/)
  await vi.waitFor(() => expect([...model.open]).toContain("slow.txt"), { timeout: 20_000 })
  await lines(["tasks", "cancel", `${id}.late`], cwd)
  terminal.child.kill("SIGKILL")
  await terminal.finished

  const seen = await lines(["plan", "show"], cwd)
  expect(seen.said).toMatch(/late +cancelled/)
  expect(seen.said).toContain(`go on with it: toolwright plan resume ${id}`)
  // Without the model that its runs were begun with, no try of theirs is used up.
  expect(await lines(["plan", "resume", id!], cwd)).toMatchObject({
    code: 2,
    said: expect.stringContaining("no model is configured") as string,
  })
  const [, question] = /toolwright approvals allow (\S+?)'/.exec(seen.said)!
  expect((await lines(["approvals", "allow", question!], cwd)).said).toContain(
    `A worker goes on with it. Where none runs: toolwright plan resume ${id}\n`,
  )

  const more = ["--allow-tool", "write_file"]
  const resumed = startCli(["plan", "resume", id!, ...as, ...more], { cwd })
  // It was begun under rules that ask: who goes on with it is asked too, whatever a task that begins now may do.
  const [, second] = await resumed.until(/slow +needs-approval[^]*?toolwright approvals allow (\S+?)'/)
  await lines(["approvals", "allow", second!], cwd)
  const { code, stdout } = await resumed.finished
  expect(stdout).toMatch(/asked +done[^]*slow +done|slow +done[^]*asked +done/)
  expect(stdout).toContain(`take it back with: toolwright undo ${id}`)
  expect(code, "one task was cancelled").toBe(1)
  const view = JSON.parse((await lines(["plan", "show", "--json"], cwd)).said) as PlanView
  expect(view.state, "nothing of it failed").toBe("cancelled")
  expect(Object.fromEntries(view.steps.map(({ name, state }) => [name, state]))).toEqual({
    asked: "done",
    slow: "done",
    late: "cancelled",
    last: "done",
  })
  const files = ["asked.txt", "slow.txt", "last.txt"]
  for (const file of files) expect(readFileSync(join(cwd, file), "utf8"), file).toBe("done\n")

  expect(await lines(["undo", id!, "--yes"], cwd)).toMatchObject({ code: 0 })
  for (const file of files) expect(existsSync(join(cwd, file)), file).toBe(false)
  expect((await lines(["undo", id!, "--yes"], cwd)).said).toContain("left to take back")
  expect((await lines(["plan", "resume"], cwd)).said).toContain(`toolwright plan retry ${id}`)
}, 120_000)

test.each([
  [["run"], "Name its file, or a template"],
  [["run", "fix"], "--set problem="],
  [["run", "fxi"], "Did you mean fix?"],
  [["check", "fix", "--set", "problm=x"], "Did you mean 'problem'?"],
  [["show", "nothing"], "There is no plan 'nothing'"],
  [["cancel"], "'toolwright plan list' shows them"],
  [["strat"], "'plan strat' is not known"],
])("plan %j says what to do instead", async (args, said) => {
  const answer = await lines(["plan", ...args], folderWith({}))
  expect(answer.code).not.toBe(0)
  expect(answer.said).toContain(said)
})

test("all mistakes of a plan are told at once, each with its line", async () => {
  const plan = `name: x
agents:
  A: { fils: [a.txt] }
  B: { files: [../b.txt] }
  C: { files: [c.txt] }
  D: { files: [./c.txt] }
tasks:
  one: { agent: A, taks: "x" }
  two: { agent: nobody, task: "x", after: [on] }
  three: { agent: file-owner, task: "x", after: [four] }
  four: { agent: reviewr, task: "{wish}", after: [three] }
`
  const cwd = folderWith({ "plan.yaml": plan, "bad.yaml": "name: x\ntasks:\n  a: [ x" })
  const { code, said } = await lines(["plan", "check", "plan.yaml", "--set", "wish=y"], cwd)
  expect(code).toBe(2)
  const told = [...said.matchAll(/^- (?:line (\d+): )?(\S+?): /gm)].map(([, line, path]) => `${line} ${path}`)
  expect(told).toEqual([
    "3 agents.A.fils",
    "4 agents.B",
    "6 agents.D.files[0]",
    "8 tasks.one.task",
    "8 tasks.one.taks",
    "9 tasks.two.after[0]",
    "9 tasks.two.agent",
    "10 tasks.three.after",
    "10 tasks.three.agent",
    "11 tasks.four.agent",
  ])
  expect(said).toContain("it has no input 'wish'")
  expect((await lines(["plan", "check", "bad.yaml"], cwd)).said).toMatch(/bad\.yaml: .* at line 3, column \d+\./)
  // An inner mistake alone stands on its own line too.
  expect((await lines(["plan", "run", "plan.yaml"], cwd)).said).toContain("line 8: tasks.one.task")
})

test("a plan that no model here can work on is refused before anything of it is queued", async () => {
  const cwd = folderWith({
    "own.yaml": "name: own\nagents: { A: { files: [a.txt] } }\ntasks: { a: { agent: A, task: x } }\n",
  })
  for (const plan of [["fix", "--set", "problem=x"], ["own.yaml"]]) {
    const { code, said } = await lines(["plan", "run", ...plan], cwd)
    expect(code).toBe(2)
    expect(said).toMatch(/needs a real model[^]*--base-url/)
  }
  expect((await lines(["plan", "list"], cwd)).said).toContain("No plan was started here.")
  expect((await lines(["agents", "--json"], cwd)).said).not.toContain('"A"')
})

test("a template is written out, and is a plan as it stands", async () => {
  const cwd = folderWith({})
  expect((await lines(["plan", "templates"], cwd)).said).toMatch(/^fix /m)
  expect((await lines(["plan", "new", "module"], cwd)).said).toContain("made plan.yaml")
  const set = ["name=Area", "file=area.py", "tests=t.py", "purpose=areas"].flatMap((each) => ["--set", each])
  expect((await lines(["plan", "check", "plan.yaml", ...set], cwd)).said).toContain("AreaAuthor owns area.py")
  expect((await lines(["plan", "run", "plan.yaml", "--queue", ...set], cwd)).said).toContain("toolwright work")
  expect((await lines(["agents"], cwd)).said).toContain("owns area.py")
})

test("over HTTP a plan is checked, started, followed to its end, and refused without a token", async () => {
  const cwd = folderWith({})
  const backend = modelByAgent({ "one.txt": written("one.txt"), "two.txt": written("two.txt") })
  const made = { cwd, withBuiltins: true, backend }
  const toolwright = await createToolwright(made)
  onTestFinished(() => toolwright.close())
  const served = await serveToolwright(toolwright, { port: 0, tokens: [{ token: "long-enough" }] })
  onTestFinished(() => served.close())
  const worker = await startTaskWorker({ toolwright, made, idle: 20 })
  onTestFinished(() => worker.drain(0))
  const headers = { "content-type": "application/json", authorization: "Bearer long-enough" }
  const ask = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
    const answer = await fetch(`${served.url}${path}`, { headers, ...sent })
    return { status: answer.status, text: await answer.text() }
  }
  const owner = (file: string) => ({ from: "assistant", files: [file], tools: { only: ["write_file"] } })
  const plan = {
    name: "pair",
    agents: { One: owner("one.txt"), Two: owner("two.txt") },
    tasks: { one: { agent: "One", task: "write" }, two: { agent: "Two", task: "write", after: ["one"] } },
  }
  expect(JSON.parse((await ask("/plans/check", { plan })).text)).toMatchObject({ levels: [["one"], ["two"]] })
  expect((await ask("/plans/check", { plan: { ...plan, tasks: {} } })).status).toBe(422)
  const started = await ask("/plans", { plan })
  expect(started.status).toBe(201)
  const { id } = JSON.parse(started.text) as PlanView
  const { text } = await ask(`/plans/${id}/stream`)
  const told = text.split("\n").filter((line) => line.startsWith("data: "))
  expect(JSON.parse(told.at(-1)!.slice(6))).toMatchObject({ state: "done", tasks: { done: 2 } })
  expect(readFileSync(join(cwd, "two.txt"), "utf8")).toBe("done\n")
  expect(JSON.parse((await ask("/plans")).text)).toMatchObject({ plans: [{ id, state: "done" }] })
  expect((await ask("/plans/check", { plan, worktree: "yes" })).text).toContain("'worktree' that is true or false")
  const third = { name: "apart", tasks: { look: { agent: "assistant", task: "look" } } }
  const apart = JSON.parse((await ask("/plans", { plan: third, worktree: true })).text) as PlanView
  const queue = await toolwright.tasks.open()
  expect(JSON.parse((await queue.get(apart.steps[0]!.id))!.input)).toMatchObject({ worktree: true })
  expect((await ask("/plans/none")).status).toBe(404)
  const open = await serveToolwright(toolwright, { port: 0 })
  onTestFinished(() => open.close())
  expect((await fetch(`${open.url}/plans`, { method: "POST", headers, body: JSON.stringify({ plan }) })).status).toBe(
    401,
  )
})
