import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { openDatabase } from "@toolwright/store"
import { expect, onTestFinished, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

/** One known by its form, one by the variable that holds it. */
const TOKEN = `ghp_${"A1b2C3d4E5f6".repeat(3)}`
const VALUE = "correct-horse-battery-1"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

async function model(steps: Steps): Promise<string[]> {
  const server = await serveBackend(createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps }))
  onTestFinished(server.close)
  return ["--model", "m", "--base-url", server.baseUrl]
}

function placeWith(files: Record<string, string>) {
  const cwd = folderWith(files)
  const env = { XDG_STATE_HOME: folderWith(), MY_SERVICE_TOKEN: VALUE }
  return { cwd, cli: (...args: string[]) => here(args, { cwd, env }) }
}

test("differences that undo and records show hold no secrets, and what is brought back does", async () => {
  const secret = `one = "${TOKEN}"\ntwo = "${VALUE}"\n`
  const { cwd, cli } = placeWith({ "a.txt": secret })
  await cli("tools", "call", "write_file", "--path", "a.txt", "--content", "nothing\n")
  for (const args of [
    ["undo", "--dry-run"],
    ["undo", "--dry-run", "--json"],
    ["runs", "show", "latest"],
  ]) {
    const { stdout } = await cli(...args)
    expect(stdout, args.join(" ")).toContain("[secret]")
    for (const each of [TOKEN, VALUE]) expect(stdout, args.join(" ")).not.toContain(each)
  }
  const done = await cli("undo", "--yes")
  expect(done).toMatchObject({ code: 0 })
  expect(done.stdout).not.toContain(TOKEN)
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(secret)
})

test("a file whose name is a key is undone, and neither the list nor its record holds the name", async () => {
  const { cwd, cli } = placeWith({ [`${TOKEN}.txt`]: "here\n" })
  expect(await cli("tools", "call", "delete_file", "--path", `${TOKEN}.txt`)).toMatchObject({ code: 0 })
  expect(existsSync(join(cwd, `${TOKEN}.txt`))).toBe(false)
  expect((await cli("undo", "list", "--json")).stdout).not.toContain(TOKEN)
  const done = await cli("undo", "--yes", "--json")
  expect(done.stdout).not.toContain(TOKEN)
  expect(readFileSync(join(cwd, `${TOKEN}.txt`), "utf8")).toBe("here\n")
  expect((await cli("db", "export")).stdout).not.toContain(TOKEN)
})

test("tasks and plans show no secrets of what was asked, and keep none of what came of it", async () => {
  const { cwd, cli } = placeWith({
    "plan.yaml": `name: p\ntasks:\n  first: { agent: assistant, task: "use ${TOKEN}, ${VALUE}" }\n`,
  })
  await cli("tasks", "add", `say ${TOKEN} and ${VALUE}`, "--key", `k-${TOKEN}-${VALUE}`)
  await cli("plan", "run", "plan.yaml", "--queue")
  const flags = await model([{ repeat: "always", reply: `It is ${TOKEN}, or ${VALUE}.` }])
  expect(await cli("work", "--once", ...flags)).toMatchObject({ code: 0 })
  const [task] = JSON.parse((await cli("tasks", "--json")).stdout) as { id: string; result?: unknown }[]
  const shown = [
    ["tasks"],
    ["tasks", "--json"],
    ["tasks", "list", "--limit", "9"],
    ["tasks", "show", task!.id],
    ["tasks", "show", task!.id, "--json"],
    ["tasks", "watch", task!.id],
    ["plan", "show"],
    ["plan", "show", "--json"],
  ]
  for (const args of shown) {
    const { stdout, code } = await cli(...args)
    expect(code, args.join(" ")).toBe(0)
    expect(stdout, args.join(" ")).toContain("[secret]")
    for (const each of [TOKEN, VALUE]) expect(stdout, args.join(" ")).not.toContain(each)
  }
  await using database = await openDatabase(join(cwd, ".toolwright/state.sqlite"))
  const rows = await database.query<{ input: string; result: string }>("SELECT input, result FROM tasks")
  expect(rows).toHaveLength(2)
  for (const { input, result } of rows) {
    for (const each of [TOKEN, VALUE]) expect(input).toContain(each)
    expect(result).toContain("It is [secret], or [secret].")
  }
})

test("with a schema the value alone goes to standard output, and nothing where there is none", async () => {
  const { cwd, cli } = placeWith({})
  writeFileSync(
    join(cwd, "s.json"),
    '{ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }',
  )
  const ask = async (reply: string) =>
    cli("run", "how many?", "--output-schema", "s.json", ...(await model([{ repeat: "always", reply }])))
  const told = await ask('{"n": 3}')
  expect(told).toMatchObject({ code: 0, stdout: '{"n":3}\n' })
  expect(told.stderr).toContain("record: toolwright runs show")
  expect(await ask("Three, I think.")).toMatchObject({ code: 1, stdout: "" })
})

test("'runs files --json' prints JSON", async () => {
  const { cwd, cli } = placeWith({ "a.txt": "x\n" })
  await cli("tools", "call", "read_text_file", "--path", "a.txt")
  const { stdout } = await cli("runs", "files", "latest", "--json", "--to", "out")
  expect(JSON.parse(stdout)).toEqual({
    folder: join(cwd, "out"),
    files: expect.arrayContaining(["run.json", "events.jsonl"]),
  })
})

test("what a run shows while it happens has no secret that a person typed, unless it is to be shown", async () => {
  const { cli } = placeWith({})
  const calls = [{ name: "write_file", arguments: { path: "a.txt", content: TOKEN } }]
  const run = async (...more: string[]) => {
    const options = await model([{ reply: { calls } }, { reply: `It is ${TOKEN} and ${VALUE}.` }])
    return (await cli("run", `write ${TOKEN} into a.txt`, ...options, ...more)).stdout
  }
  const shown = await run()
  expect(shown).toContain("It is [secret] and [secret].")
  for (const each of [TOKEN, VALUE]) expect(shown).not.toContain(each)
  expect(await run("--show-secret", "all")).toContain(`It is ${TOKEN} and ${VALUE}.`)
  expect(await run("--json")).toContain(`"content":"It is ${TOKEN}`)
})
