import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { openStateDatabase } from "@toolwright/store"
import { expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

async function model(steps: Steps): Promise<string[]> {
  const server = await serveBackend(createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps }))
  onTestFinished(server.close)
  return ["--model", "m", "--base-url", server.baseUrl]
}

/** The words of a line, as a shell reads them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, inner]) => inner ?? word)
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
  const until = await here(["runs", "show", "latest", "--json"], { cwd })
  const recorded = until.stdout.trim().split("\n")
  expect(recorded.map((line) => JSON.parse(line) as object)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: "tool-start", name: "bash", arguments: append.arguments }),
      expect.objectContaining({ type: "tool-end", result: expect.objectContaining({ success: true }) as object }),
    ]),
  )

  const rest = await model([{ reply: "The line is there." }])
  const resumed = await here(["resume", ...rest], { cwd })
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("The line is there.") as string })
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
  expect((await here(["runs", "show", "latest"], { cwd })).stdout).toMatch(
    /goes on with m from round 1 on, after 1 call\n/,
  )
  const runs = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as { status: string; summary: object }[]
  expect(runs).toMatchObject([{ status: "completed", summary: { rounds: 2, calls: 1 } }])
  expect(await here(["audit", "verify"], { cwd })).toMatchObject({ code: 0, stdout: "1 checked, 0 not as written.\n" })
  expect(await here(["resume", ...rest], { cwd })).toMatchObject({
    code: expect.any(Number),
    stderr: expect.stringContaining("has ended") as string,
  })
})

test("a run whose process was killed goes on as it was begun, and 'runs show' says by which command", async () => {
  const cwd = folderWith({ "a.txt": "a\n" })
  const look = { reply: { calls: [{ name: "file_read", arguments: { path: "a.txt" } }] } }
  const kill = async (...flags: string[]): Promise<string[]> => {
    const hang = { reply: { text: "I think", hang: true } }
    const server = await model([look, hang, { reply: "It is a." }])
    const run = startCli(["run", "look", "--json", ...server, ...flags], { cwd })
    await run.until(/"text-delta"/)
    run.child.kill("SIGKILL")
    await run.finished
    return server
  }
  const first = await kill("--native-tools", "--careful")
  expect((await here(["runs"], { cwd })).stderr).toContain("toolwright runs show ")
  expect(await here(["resume"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("It is a.") as string,
    stderr: expect.stringContaining(`${first[3]}`) as string,
  })
  expect((await here(["runs", "show"], { cwd })).stdout).not.toContain("go on with")

  const elsewhere = ["--database", join(cwd, "its runs.sqlite")]
  const second = await kill(...elsewhere)
  const { stdout } = await here(["runs", "show", "latest", ...elsewhere], { cwd })
  const [, line = ""] = /^go on with: toolwright (resume .*)$/m.exec(stdout) ?? []
  // A database that is named may have come from somebody else: no address of it is asked that was not typed.
  const unasked = await here(["resume", ...elsewhere], { cwd })
  expect(unasked.stderr).toContain("no model is configured")
  expect(unasked.stderr).not.toContain("As it was begun")
  // Nor is one said in a command that is there to be typed.
  const typed = wordsOf(line)
  expect(new Set(typed.slice(2))).toEqual(new Set(elsewhere))
  expect(stdout).not.toContain(second[3])
  expect(stdout).toContain("say where its model is")
  const resumed = await here([...typed, ...second], { cwd })
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("It is a.") as string })
})

test("what a command goes on with names no address of a folder's configuration, and holds no password", async () => {
  const hang = { reply: { text: "I think", hang: true } }
  const [, , , address = ""] = await model([hang, hang])
  const cwd = folderWith({ "toolwright.yaml": `model: { name: m, baseUrl: "${address}" }\n` })
  const killed = async (...flags: string[]): Promise<string> => {
    const run = startCli(["run", "say so", "--json", ...flags], { cwd })
    await run.until(/"text-delta"/)
    run.child.kill("SIGKILL")
    await run.finished
    return (await here(["runs", "show"], { cwd })).stdout
  }
  expect(await killed("--trust")).not.toContain(address)
  expect((await here(["resume"], { cwd })).stderr).toContain("no model is configured")
  const password = "d3adb33f-s3cret-w0rd"
  const shown = await killed("--model", "m", "--base-url", address.replace("://", `://me:${password}@`))
  expect(shown).toContain("go on with: toolwright resume ")
  expect(shown).not.toContain(password)
  const { code, stderr } = await here(["resume"], { cwd })
  expect(code).not.toBe(0)
  expect(stderr).toContain("no model is configured")
  expect(stderr).not.toContain("As it was begun")
})

test("how a run was begun is believed of a command's own run alone", async () => {
  const cwd = folderWith({})
  const flags = await model([{ reply: { text: "I think", hang: true } }])
  const run = startCli(["run", "say so", "--json", ...flags], { cwd })
  await run.until(/"text-delta"/)
  run.child.kill("SIGKILL")
  await run.finished
  const database = new DatabaseSync(join(cwd, ".toolwright/state.sqlite"))
  database.exec("UPDATE runs SET surface = 'rest'")
  database.close()
  const { code, stderr } = await here(["resume"], { cwd })
  expect(code).not.toBe(0)
  expect(stderr).toContain("no model is configured")
  expect(stderr).not.toContain("As it was begun")
})

test("the checks are compared with what they were before the run, also by the process that goes on with it", async () => {
  const check = (sum: number): string =>
    `import assert from "node:assert/strict"\nimport { test } from "node:test"\nimport { add } from ` +
    `"../src/add.js"\n\ntest("adds", () => assert.equal(add(2, 3), ${sum}))\n`
  const cwd = folderWith({
    "package.json": '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
    "src/add.js": "export function add(a, b) {\n  return a - b\n}\n",
    "tests/add.test.js": check(5),
  })
  const weaken = { name: "file", arguments: { action: "write", path: "tests/add.test.js", content: check(-1) } }
  const first = await model([
    { reply: { calls: [{ name: "file", arguments: { action: "read", path: "tests/add.test.js" } }] } },
    { reply: { calls: [weaken] } },
    { reply: { text: "I think", hang: true } },
  ])
  const run = startCli(["run", "fix add()", "--agent", "builder", "--json", ...first], { cwd })
  await run.until(/"text-delta"/)
  run.child.kill("SIGKILL")
  await run.finished

  const rest = await model([
    { reply: { calls: [{ name: "test", arguments: {} }] } },
    { reply: "TASK_COMPLETE", repeat: "always" },
  ])
  const resumed = await here(["resume", "--json", ...rest], { cwd })
  const events = resumed.stdout
    .trim()
    .split("\n")
    .map((text) => (JSON.parse(text) as { type: string }).type)
  expect([events[0], events.at(-1)]).toEqual(["run-resume", "run-end"])
  const end = JSON.parse(resumed.stdout.trim().split("\n").at(-1)!) as { summary: object }
  expect(end.summary).toMatchObject({
    success: false,
    notes: expect.arrayContaining([expect.objectContaining({ code: "CHECKS_WEAKENED" })]) as object[],
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

test("a run that was stopped says at its end how to go on, and that is so", async () => {
  const cwd = folderWith({ "a.txt": "a\n" })
  const look = { reply: { calls: [{ name: "file_read", arguments: { path: "a.txt" } }] } }
  const end = { reply: "It is a." }
  const server = await model([look, { reply: { text: "I think", hang: true } }, end])
  const elsewhere = ["--database", join(cwd, "its runs.sqlite"), "--native-tools", "true"]
  const run = startCli(["run", "look", ...server, ...elsewhere, "--careful"], { cwd })
  await run.until(/round 2\/20/)
  run.child.kill("SIGINT")
  const stopped = await run.finished
  expect(stopped.code).toBe(130)
  const limits = await model([look, end])
  const limited = await here(["run", "look", "--max-rounds", "1", ...limits], { cwd })
  for (const [said, more] of [
    [stopped.stdout, [...server, "--native-tools", ...elsewhere.slice(0, 2)]],
    [limited.stdout, ["--max-rounds", "2", ...limits]],
  ] as const) {
    const [, line = ""] = /^go on with: toolwright (.*)$/m.exec(said) ?? []
    expect(line).toMatch(/^branch \S+ --at \d+/)
    const typed = wordsOf(line)
    expect(new Set(typed.slice(4))).toEqual(new Set(more))
    const on = await here(typed, { cwd })
    expect(on).toMatchObject({ code: 0, stdout: expect.stringContaining("It is a.") })
    expect(on.stdout).not.toContain("go on with")
  }
})

test("a run in another database says where when it says how to go on, and so does the branch", async () => {
  const cwd = folderWith({ "a.txt": "a\n" })
  const look = { reply: { calls: [{ name: "file_read", arguments: { path: "a.txt" } }] } }
  const database = join(cwd, "else.sqlite")
  const first = ["run", "look", "--max-rounds", "1", "--database", database]
  let said = (await here([...first, ...(await model([look]))], { cwd })).stdout
  for (const rounds of [2, 4]) {
    const [, line = ""] = /^go on with: toolwright (.*)$/m.exec(said) ?? []
    expect(line.split(" ").slice(4, 8)).toEqual(["--max-rounds", `${rounds}`, "--database", database])
    said = (
      await here([...line.split(" ").slice(0, 8), ...(await model(Array.from({ length: rounds }, () => look)))], {
        cwd,
      })
    ).stdout
    expect(said).toMatch(/^max-rounds/m)
    const [, shown = ""] = /^record: toolwright (.*)$/m.exec(said) ?? []
    expect(await here(shown.split(" "), { cwd })).toMatchObject({ code: 0 })
  }
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

test("a database that came with a folder is not believed until a person says so", async () => {
  const cwd = folderWith({})
  await here(["tools", "call", "echo", "--message", "hello there"], { cwd })
  const cloned = folderWith({})
  cpSync(join(cwd, ".toolwright"), join(cloned, ".toolwright"), { recursive: true })
  const runs = await here(["runs", "--calls"], { cwd: cloned })
  expect(runs.stdout).not.toContain("echo")
  expect(runs.stderr).toContain("was not written by you here")
  await here(["tools", "call", "echo", "--message", "mine"], { cwd: cloned })
  expect((await here(["runs", "--calls"], { cwd: cloned })).stdout).toContain("tools: echo")
  const before = readFileSync(join(cloned, ".toolwright/state.sqlite"))
  expect(before.equals(readFileSync(join(cwd, ".toolwright/state.sqlite")))).toBe(true)

  expect(await here(["db", "adopt"], { cwd: cloned })).toMatchObject({ code: 0 })
  const adopted = await here(["db", "export"], { cwd: cloned })
  expect(adopted.stderr).toBe("")
  expect(adopted.stdout).toContain("hello there")
  expect(adopted.stdout).not.toContain("mine")
})

test("a database with a trigger is nobody's, however empty it is", async () => {
  const cwd = folderWith({})
  const made = await openStateDatabase(join(cwd, ".toolwright"))
  await made.query("CREATE TRIGGER allow AFTER INSERT ON approvals BEGIN UPDATE approvals SET state = 'allowed'; END")
  await made.close()
  expect((await here(["db", "status"], { cwd })).stderr).toContain("was not written by you here")
  const adopted = await here(["db", "adopt"], { cwd })
  expect(adopted.code).not.toBe(0)
  expect(adopted.stderr).toContain("views or triggers")
})

test("a call that nobody is there to permit waits without a process, is answered once, and is made once", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  writeFileSync(join(cwd, "toolwright.yaml"), "permissions:\n  ask: [bash]\n  approvals: wait\n")
  const first = await here(["run", "add a line", ...(await model([{ reply: { calls: [append] } }]))], { cwd })
  expect(first.code).toBe(1)
  expect(first.stdout + first.stderr).toMatch(/toolwright approvals allow \w{8}/)
  expect(JSON.parse((await here(["runs", "--json"], { cwd })).stdout)).toMatchObject([{ status: "waiting" }])
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("")

  const waiting = JSON.parse((await here(["approvals", "--json"], { cwd })).stdout) as { id: string; state: string }[]
  expect(waiting).toMatchObject([{ state: "pending", tool: "bash", arguments: expect.stringContaining("echo line") }])
  const still = await here(["resume", ...(await model([]))], { cwd })
  expect(still.stdout + still.stderr).toContain("needs approval")
  expect((await here(["approvals", "allow", waiting[0]!.id], { cwd })).code).toBe(0)
  expect((await here(["approvals", "deny", waiting[0]!.id], { cwd })).stderr).toContain("is allowed")

  const resumed = await here(["resume", ...(await model([{ reply: "The line is there." }]))], { cwd })
  expect(resumed).toMatchObject({ code: 0 })
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
  expect((await here(["approvals", "list", "--all"], { cwd })).stdout).toContain("consumed")
  const shown = (await here(["runs", "show", "latest"], { cwd })).stdout
  expect(shown).toMatch(/waits for approval of bash: May 'bash' run\?[^]*goes on with m[^]*allowed by \S+\n/)
  expect(await here(["audit", "verify"], { cwd })).toMatchObject({ code: 0 })

  const again = await here(["run", "add a line", ...(await model([{ reply: { calls: [append] } }]))], { cwd })
  const id = /approvals allow (\w{8})/.exec(again.stdout + again.stderr)![1]!
  await here(["approvals", "deny", id, "--note", "not today"], { cwd })
  const told = { expect: { last: "not today" }, reply: "It was not permitted." }
  expect((await here(["resume", ...(await model([told]))], { cwd })).stdout).toContain("It was not permitted.")
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
})

test("of a call whose arguments hold a secret nobody is asked, and it is not made; other questions last seven days", async () => {
  const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`
  const cwd = folderWith({ "a.txt": "a\n" })
  const asking = async (path: string): Promise<string> => {
    const calls = [{ name: "file_delete", arguments: { path } }]
    writeFileSync(join(cwd, "play.json"), JSON.stringify({ steps: [{ reply: { calls } }, { reply: "Done." }] }))
    await here(["run", "x", "--screenplay", "play.json", "--careful", "--approvals", "wait"], { cwd })
    return (await here(["approvals", "list", "--json"], { cwd })).stdout
  }
  writeFileSync(join(cwd, token), "kept\n")
  expect(JSON.parse(await asking(token))).toEqual([])
  expect(existsSync(join(cwd, token))).toBe(true)
  const [question] = JSON.parse(await asking("a.txt")) as { created_at: number; expires_at: number }[]
  expect(question!.expires_at - question!.created_at).toBe(7 * 24 * 60 * 60 * 1000)
})

test("without an id the newest run of an agent that waits is gone on with, whatever was called since", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const first = await model([{ reply: { text: "I think", hang: true } }])
  const run = startCli(["run", "say so", "--json", ...first], { cwd })
  await run.until(/"text-delta"/)
  run.child.kill("SIGKILL")
  await run.finished
  await here(["run", "something else", ...(await model([{ reply: "Else." }]))], { cwd })
  await here(["tools", "call", "echo", "--message", "hello"], { cwd })
  const resumed = await here(["resume", ...(await model([{ reply: "So." }]))], { cwd })
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("So.") as string })
  expect((await here(["resume", ...(await model([]))], { cwd })).stderr).toMatch(
    /has ended.*\nBegin a new one: no round/,
  )
})

test("of a run that has ended it is said where another way can be gone from, and that is so", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const look = { reply: { calls: [{ name: "file_read", arguments: { path: "a.txt" } }] } }
  await here(["run", "look", ...(await model([look, { reply: "One." }]))], { cwd })
  const { stderr } = await here(["resume", ...(await model([]))], { cwd })
  // Without flags it says no more: nothing goes on as it was begun.
  expect(await here(["resume"], { cwd })).toMatchObject({ code: 1, stderr })
  const [, line] = /toolwright (branch \S+ --at \d+);/.exec(stderr)!
  const branched = await here([...line!.split(" "), ...(await model([{ reply: "One, once more." }]))], { cwd })
  expect(branched).toMatchObject({ code: 0, stdout: expect.stringContaining("One, once more.") as string })
})

test("a hint names the database where that is not the folder's own", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const there = ["--database", join(cwd, "else.sqlite")]
  const look = { reply: { calls: [{ name: "file_read", arguments: { path: "a.txt" } }] } }
  await here(["run", "look", ...there, ...(await model([look, { reply: "One." }]))], { cwd })
  const { stderr } = await here(["resume", ...there, ...(await model([]))], { cwd })
  const [, branch = "", shown = ""] = /toolwright (branch .*?); 'toolwright (runs show .*?)' numbers/.exec(stderr) ?? []
  expect(await here(shown.split(" "), { cwd })).toMatchObject({ code: 0 })
  const branched = await here([...branch.split(" "), ...(await model([{ reply: "One, again." }]))], { cwd })
  expect(branched).toMatchObject({ code: 0, stdout: expect.stringContaining("One, again.") as string })
  for (const at of ["1", "999"]) {
    const wrong = await here(["branch", "--at", at, ...there, ...(await model([]))], { cwd })
    expect(wrong.stderr, at).toContain(there.join(" "))
  }
})

test("where only single calls are on record there is nothing to go on with", async () => {
  const cwd = folderWith({})
  await here(["tools", "call", "echo", "--message", "hello"], { cwd })
  expect((await here(["resume", ...(await model([]))], { cwd })).stderr).toContain("No run of an agent is on record")
})

test("a branch goes on from the middle of a run, does nothing of it again, and may read a result otherwise", async () => {
  const cwd = folderWith({ "log.txt": "", "better.txt": "three lines" })
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  const look = { name: "file", arguments: { action: "read", path: "log.txt" } }
  const told = (last: string, reply: string) => ({ expect: { last }, reply })
  const whole = [{ reply: { calls: [append] } }, { reply: { calls: [look] } }, told("line", "One line.")]
  await here(["run", "add a line and look", ...(await model(whole))], { cwd })
  const [{ runId }] = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as [{ runId: string }]
  const rows = (await here(["db", "export"], { cwd })).stdout.trim().split("\n")
  const events = rows.map((row) => JSON.parse(row) as { table: string; row: { type: string; seq: number } })
  const at = (type: string, which: number): string =>
    String(events.filter(({ table, row }) => table === "run_events" && row.type === type)[which]!.row.seq)
  const branch = async (...args: string[]) => here(["branch", runId, "--at", ...args], { cwd })

  const again = await branch(at("round-end", 0), ...(await model([{ reply: "I look no further." }])))
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("I look no further.") as string })
  const better = await model([told("three lines", "Three lines.")])
  const edited = await branch(at("tool-end", 1), "--edit", "better.txt", ...better)
  expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining("Three lines.") as string })
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
  expect(await here(["audit", "verify"], { cwd })).toMatchObject({ code: 0 })

  expect((await branch("9999", ...(await model([])))).stderr).toContain("has no event 9999")
  expect((await branch("x")).stderr).toContain("--at is missing")
  const first = await branch("1", "--edit", "better.txt", ...(await model([])))
  expect(first.stderr).toContain("no result of a call")
})

test("a branch finds files as they were at its event: what the run changed later is taken back, what others changed stays", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const write = (path: string, content: string) => ({
    calls: [{ name: "file_write", arguments: { path, content } }],
  })
  const whole = [write("a.txt", "first"), write("a.txt", "second"), write("b.txt", "b"), write("c.txt", "c")]
  await here(["run", "write", ...(await model([...whole.map((reply) => ({ reply })), { reply: "Done." }]))], { cwd })
  const read = (name: string) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : undefined)
  expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual(["second", "b", "c"])
  writeFileSync(join(cwd, "c.txt"), "somebody's")
  const [{ runId }] = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as [{ runId: string }]
  const rows = (await here(["db", "export"], { cwd })).stdout.trim().split("\n")
  const seq = rows
    .map((row) => JSON.parse(row) as { table: string; row: { type: string; seq: number } })
    .find(({ table, row }) => table === "run_events" && row.type === "round-end")!.row.seq
  const branch = async (...flags: string[]) =>
    here(["branch", runId, "--at", String(seq), ...flags, ...(await model([{ reply: "Enough." }]))], { cwd })

  expect(await branch("--keep-files")).toMatchObject({ code: 0 })
  expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual(["second", "b", "somebody's"])

  const { code, stderr } = await branch()
  expect(code).toBe(0)
  expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual(["first", undefined, "somebody's"])
  expect(stderr).toMatch(/taken back first: .*b\.txt.*a\.txt/)
  expect(stderr).toMatch(/c\.txt stays as it is: /)
  // It is on record, and comes again.
  const listed = (await here(["undo", "list"], { cwd })).stdout
  expect(listed).toContain("undo")
  expect(await here(["audit", "verify"], { cwd })).toMatchObject({ code: 0 })
})

test("a run goes on as careful as it was begun: what was refused is not made, whichever flags are left out", async () => {
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  const flags = ["--careful", "--approvals", "wait"]
  const asked = async (cwd: string, answer: string): Promise<void> => {
    const run = await here(["run", "add a line", ...flags, ...(await model([{ reply: { calls: [append] } }]))], { cwd })
    const id = /approvals allow (\w{8})/.exec(run.stdout + run.stderr)![1]!
    expect(await here(["approvals", answer, id], { cwd })).toMatchObject({ code: 0 })
  }
  const goOn = async (cwd: string, reply: string) => here(["resume", ...(await model([{ reply }]))], { cwd })

  const refused = folderWith({ "log.txt": "" })
  await asked(refused, "deny")
  expect((await goOn(refused, "Not done.")).stdout).toContain("was not approved")
  expect(readFileSync(join(refused, "log.txt"), "utf8")).toBe("")

  const allowed = folderWith({ "log.txt": "" })
  await asked(allowed, "allow")
  expect(await goOn(allowed, "Done.")).toMatchObject({ code: 0 })
  expect(readFileSync(join(allowed, "log.txt"), "utf8")).toBe("line\n")
})

test("what a run was denied by a flag it is denied when it goes on", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const run = startCli(
    ["run", "say so", "--json", "--deny-tool", "bash", ...(await model([{ reply: { text: "I think", hang: true } }]))],
    { cwd },
  )
  await run.until(/"text-delta"/)
  run.child.kill("SIGKILL")
  await run.finished
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  const rest = await model([{ reply: { calls: [append] } }, { reply: "Not done." }])
  expect((await here(["resume", ...rest], { cwd })).stdout).toContain("not permitted")
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("")
})

test("what a run was asked about it is asked about when it goes on, and what it was allowed it is allowed", async () => {
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  const begun = async (flags: string[], configuration: string): Promise<string> => {
    const cwd = folderWith({ "log.txt": "", "toolwright.yaml": configuration })
    const first = await model([{ reply: { text: "I think", hang: true } }])
    const run = startCli(["run", "say so", "--json", ...flags, ...first], { cwd })
    await run.until(/"text-delta"/)
    run.child.kill("SIGKILL")
    await run.finished
    writeFileSync(join(cwd, "toolwright.yaml"), "")
    return cwd
  }
  const replies: Steps = [{ reply: { calls: [append] } }, { reply: "So it is." }]
  const asks = await begun([], "permissions: { ask: [bash] }\n")
  const refused = await here(["resume", "--allow-tool", "bash", ...(await model(replies))], { cwd: asks })
  expect(refused.stdout).toContain("needs approval")
  expect(refused.stderr).toContain("--allow-tool permits it nothing more")
  expect(readFileSync(join(asks, "log.txt"), "utf8")).toBe("")

  const careful = await begun(["--careful", "--allow-tool", "bash"], "")
  expect(await here(["resume", ...(await model(replies))], { cwd: careful })).toMatchObject({ code: 0 })
  expect(readFileSync(join(careful, "log.txt"), "utf8")).toBe("line\n")
})

test("a run goes on with its own model where a server is named and no model", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const run = startCli(["run", "say so", "--json", ...(await model([{ reply: { text: "I think", hang: true } }]))], {
    cwd,
  })
  await run.until(/"text-delta"/)
  run.child.kill("SIGKILL")
  await run.finished
  const [, , ...server] = await model([{ reply: "So it is." }, { reply: "So it is." }])
  expect(await here(["resume", ...server], { cwd })).toMatchObject({ code: 0 })
  expect(await here(["branch", "--at", "999", ...server], { cwd })).toMatchObject({
    stderr: expect.stringContaining("has no event 999") as string,
  })
  const [{ model: used } = { model: "" }] = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as {
    model: string
  }[]
  expect(used).toBe("m")
})

test("a run of a real model is not gone on with by the built-in one, and no branch of it is left behind", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const append = { name: "bash", arguments: { command: "echo line >> log.txt" } }
  const flags = ["--careful", "--approvals", "wait"]
  const [, name, , address] = await model([{ reply: { calls: [append] } }])
  const env = { TOOLWRIGHT_MODEL: name!, TOOLWRIGHT_BASE_URL: address! }
  await here(["run", "add a line", ...flags], { cwd, env })
  const none = expect.stringMatching(/was 'm', and no model is configured\.\n[^]*--model/) as string
  expect(await here(["resume"], { cwd })).toMatchObject({ code: 2, stderr: none })
  expect(await here(["branch", "--at", "3"], { cwd })).toMatchObject({ code: 2, stderr: none })
  expect(await here(["branch", "--at", "3", "--model", "m", "--backend", "llama"], { cwd })).toMatchObject({ code: 2 })
  expect(JSON.parse((await here(["runs", "--json"], { cwd })).stdout)).toMatchObject([{ status: "waiting" }])
})
