import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import type { EvaluationReport } from "@toolwright/runtime/evals"
import { describe, expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

/** A model that writes a text into out.txt and says so. */
async function writing(text: string, delayMs = 0): Promise<string> {
  const calls = [{ name: "file_write", arguments: { path: "out.txt", content: text } }]
  const steps = Array.from({ length: 60 }, () => [{ reply: { calls }, delayMs }, { reply: "It is written." }]).flat()
  const server = await serveBackend(createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps }))
  onTestFinished(server.close)
  return server.baseUrl
}

const suiteOf = (models: Record<string, string>, trials = 2): string =>
  JSON.stringify({
    name: "writing",
    trials,
    models: Object.entries(models).map(([id, baseUrl]) => ({ id, name: "m", baseUrl })),
    tasks: {
      write: { task: "Write right into out.txt.", graders: [{ file: { path: "out.txt", equals: "right" } }] },
    },
  })

const reportIn = (stdout: string): EvaluationReport => JSON.parse(stdout) as EvaluationReport

describe("in a folder where nothing is configured", () => {
  test("the suite that is written to begin with is passed by the built-in model, and can be looked at", async () => {
    const cwd = folderWith({})
    expect(await here(["eval"], { cwd })).toMatchObject({ code: 0, stdout: "No suite was tried here.\n" })
    expect((await here(["eval", "new"], { cwd })).code).toBe(0)
    const checked = await here(["eval", "check", "suite.yaml"], { cwd })
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("4 trials; nothing was tried.") })
    expect(existsSync(join(cwd, ".toolwright"))).toBe(false)

    const ran = await here(["eval", "run", "suite.yaml", "--html", "report.html"], { cwd })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("4 of 4 passed") })
    const columns = ran.stdout.split("\n").map((line) => line.indexOf("  trial "))
    expect(new Set(columns.filter((at) => at > 0)), "they stand below each other").toHaveProperty("size", 1)
    expect(readFileSync(join(cwd, "report.html"), "utf8")).toContain("show-lines")
    const { id, trials } = reportIn((await here(["eval", "show", "--json"], { cwd })).stdout)
    expect(ran.stdout, "nothing is promised that is not there").not.toContain("did not pass")
    expect(ran.stdout).toContain(`each trial with its run: toolwright eval show ${id}\n`)
    expect((await here(["eval"], { cwd })).stdout).toContain(id)
    const transcript = await here(["runs", "show", trials[0]!.run!], { cwd })
    expect(transcript).toMatchObject({ code: 0, stdout: expect.stringContaining(`asked for by ${id}`) })
    const record = await here(["runs", "show", id], { cwd })
    expect(record.stdout).toContain(trials[0]!.run)
    expect((await here(["runs"], { cwd })).stdout).toContain("add --calls")
    expect((await here(["runs", "--calls"], { cwd })).stdout).toContain(trials[0]!.run)
    expect((await here(["audit", "verify"], { cwd })).code).toBe(0)
  })
})

describe("models", () => {
  test("are compared, and the exit code says whether each reached the threshold", async () => {
    const cwd = folderWith({ "suite.yaml": suiteOf({ good: await writing("right"), bad: await writing("wrong") }) })
    const ran = await here(["eval", "run", "suite.yaml"], { cwd })
    expect(ran.code).toBe(1)
    expect(ran.stdout).toMatch(/^task +good +bad$/m)
    expect(ran.stdout).toMatch(/^write +2\/2 +0\/2$/m)
    expect(ran.stdout).toMatch(/good: 2 of 2 passed/)
    expect(ran.stdout).toMatch(/out\.txt is not "right"/)
    expect(ran.stdout).toMatch(/^what did not pass, and why: toolwright eval show \S+$/m)

    const low = suiteOf({ good: await writing("right"), bad: await writing("wrong") }).replace("{", '{"threshold":0,')
    writeFileSync(join(cwd, "low.yaml"), low)
    expect((await here(["eval", "run", "low.yaml"], { cwd })).code).toBe(0)
  })

  test("of a suite get no key that belongs elsewhere", async () => {
    const backend = createScriptedBackend({ model: "m", steps: [{ repeat: "always", reply: "It is written." }] })
    const server = await serveBackend(backend, { apiKey: "sk-of-openai" })
    onTestFinished(server.close)
    const cwd = folderWith({ "suite.yaml": suiteOf({ other: server.baseUrl }, 1) })
    const ran = await here(["eval", "run", "suite.yaml", "--json"], { cwd, env: { OPENAI_API_KEY: "sk-of-openai" } })
    expect(ran.code).toBe(1)
    expect(reportIn(ran.stdout).trials).toMatchObject([{ verdict: "error", error: { code: "MODEL_UNAUTHORIZED" } }])
  })
})

test("an evaluation whose process is killed goes on where it was, and repeats nothing that was measured", async () => {
  const cwd = folderWith({ "suite.yaml": suiteOf({ good: await writing("right", 20) }, 5) })
  const killed = startCli(["eval", "run", "suite.yaml"], { cwd })
  await killed.until(/trial 2 /)
  killed.child.kill("SIGKILL")
  await killed.finished
  const before = reportIn((await here(["eval", "show", "--json"], { cwd })).stdout)
  expect(before).toMatchObject({ state: "open", planned: 5, reached: false })
  expect(before.trials.length).toBeGreaterThanOrEqual(2)
  expect(await here(["resume", before.id], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`eval resume ${before.id}`),
  })

  const resumed = await here(["eval", "resume", "--json"], { cwd })
  expect(resumed.code).toBe(0)
  const after = reportIn(resumed.stdout)
  expect(after).toMatchObject({ id: before.id, state: "done", reached: true, models: [{ measured: 5, passed: 5 }] })
  expect(after.trials.slice(0, before.trials.length)).toEqual(before.trials)
  expect((await here(["audit", "verify"], { cwd })).code).toBe(0)

  const again = reportIn((await here(["eval", "run", "suite.yaml", "--json"], { cwd })).stdout)
  const compared = await here(["eval", "compare", before.id, again.id], { cwd })
  expect(compared.stdout).toMatch(/write +good +5\/5 +5\/5 +same/)
})

test("Ctrl-C ends the trial under way, says how it goes on, and ends with 130", async () => {
  const cwd = folderWith({ "suite.yaml": suiteOf({ good: await writing("right", 20) }, 30) })
  const stopped = startCli(["eval", "run", "suite.yaml"], { cwd })
  await stopped.until(/trial 1 /)
  stopped.child.kill("SIGINT")
  const { code, stdout } = await stopped.finished
  expect(code).toBe(130)
  const { id, trials } = reportIn((await here(["eval", "show", "--json"], { cwd })).stdout)
  expect(stdout).toContain(`toolwright eval resume ${id}`)
  expect(trials.length).toBeLessThan(30)
  expect(trials.every(({ verdict }) => verdict === "pass")).toBe(true)
})

describe("mistakes", () => {
  test("of a suite are told at once, each with its line", async () => {
    const cwd = folderWith({
      "suite.yaml": "name: x\ntrials: none\ntasks:\n  one:\n    task: do it\n    graders:\n      - answr: {}\n",
    })
    const { code, stderr } = await here(["eval", "run", "suite.yaml"], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/line 2: trials/)
    writeFileSync(join(cwd, "suite.yaml"), readFileSync(join(cwd, "suite.yaml"), "utf8").replace("none", "1"))
    expect((await here(["eval", "check", "suite.yaml"], { cwd })).stderr).toMatch(
      /line 7: .*answr.*Did you mean 'answer'/,
    )
  })

  test.each<[string[], RegExp]>([
    [["run"], /Which suite/],
    [["run", "no.yaml"], /There is no file 'no.yaml'/],
    [["suite.yaml"], /toolwright eval run suite.yaml/],
    [["show"], /No suite was tried here/],
    [["resume", "x"], /There is no evaluation 'x'/],
    [["compare", "x"], /Two evaluations/],
    [["run", "suite.yaml", "--trials", "0"], /--trials must be a whole number/],
  ])("%j", async (args, message) => {
    const cwd = folderWith({ "suite.yaml": suiteOf({ one: "http://127.0.0.1:1/v1" }) })
    const { code, stderr } = await here(["eval", ...args], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test("the suite of the documentation has none", async () => {
    const page = readFileSync(new URL("../../../../docs/evaluations.md", import.meta.url), "utf8")
    const cwd = folderWith({ "suite.yaml": /^```yaml\n([^]*?)^```/m.exec(page)![1]! })
    expect((await here(["eval", "check", "suite.yaml"], { cwd })).stderr).toBe("")
  })
})
