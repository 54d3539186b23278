import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

async function model(steps: Steps): Promise<string[]> {
  const server = await serveBackend(createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps }))
  onTestFinished(server.close)
  return ["--model", "m", "--base-url", server.baseUrl]
}

test("a run whose process was killed goes on where it was, does nothing twice, and its record holds", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  const first = await model([{ reply: { calls: [append] } }, { reply: { text: "I think", hang: true } }])
  const run = startCli(["run", "add a line", "--json", ...first], { cwd })
  await run.until(/"text-delta"/)
  run.child.kill("SIGKILL")
  await run.finished
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
  expect((await here(["runs"], { cwd })).stdout).toContain("interrupted")

  const rest = await model([{ reply: "The line is there." }])
  const resumed = await here(["resume", ...rest], { cwd })
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("The line is there.") as string })
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
  const runs = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as { status: string; summary: object }[]
  expect(runs).toMatchObject([{ status: "completed", summary: { rounds: 2, calls: 1 } }])
  expect(await here(["audit", "verify"], { cwd })).toMatchObject({ code: 0, stdout: "1 checked, 0 not as written.\n" })
  expect(await here(["resume", ...rest], { cwd })).toMatchObject({
    code: expect.any(Number),
    stderr: expect.stringContaining("has ended") as string,
  })
})

test("a run that is under way is not taken over", async () => {
  const cwd = folderWith({})
  const run = startCli(["run", "wait", "--json", ...(await model([{ reply: { text: "I think", hang: true } }]))], {
    cwd,
  })
  await run.until(/"text-delta"/)
  const second = await here(["resume", ...(await model([{ reply: "no" }]))], { cwd })
  expect(second.code).not.toBe(0)
  expect(second.stderr).toMatch(/Another run works|is under way/)
  run.child.kill("SIGINT")
  await run.finished
})

test("the database says where it is and what is in it, and gives everything as text", async () => {
  const cwd = folderWith({})
  expect((await here(["db", "status"], { cwd })).stdout).toContain("nothing is there yet")
  await here(["tools", "call", "echo", "--message", "hello there"], { cwd })
  expect(JSON.parse((await here(["db", "status", "--json"], { cwd })).stdout)).toMatchObject({
    applied: expect.arrayContaining(["0001-run-log"]) as string[],
    pending: [],
    rows: { runs: 1, run_events: 3 },
  })
  const rows = (await here(["db", "export"], { cwd })).stdout.trim().split("\n")
  expect(rows.map((row) => (JSON.parse(row) as { table: string }).table)).toEqual([
    "runs",
    ...Array.from({ length: 3 }, () => "run_events"),
  ])
  expect(rows[1]).toContain("hello there")
  expect((await here(["db", "migrate"], { cwd })).stdout).toContain("up to date: 0001-run-log")
})
