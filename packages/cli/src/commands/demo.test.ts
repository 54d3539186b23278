import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"

const FIBONACCI = [
  "Missing input validation",
  "Nothing was committed: validation has not passed since the last change",
  "not accepted as done",
  "8 rounds, 6 calls, 2 failed, 2 corrected",
  "export function fibonacci(n: number): number",
]

/** Put before a process: what it and its children would reach of a network is written down, and not reached. */
const NO_NETWORK = `
import dns from "node:dns"
import { appendFileSync } from "node:fs"
import { Socket } from "node:net"
const refuse = (what) => {
  appendFileSync(process.env.REACHED, what + "\\n")
  throw new Error("There is no network here: " + what)
}
const connect = Socket.prototype.connect
Socket.prototype.connect = function (...given) {
  const [to] = [given].flat(2)
  const path = to?.path ?? (typeof to === "string" ? to : undefined)
  return path === undefined ? refuse(JSON.stringify(to)) : connect.apply(this, given)
}
for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) dns[name] = (host) => refuse(host)
`

test("the demonstration lets the pocket model answer, says what is a model and what a screenplay, and leaves nothing behind", async () => {
  const temporary = folderWith({ "none.mjs": NO_NETWORK })
  const reached = join(temporary, "reached.txt")
  const env = { TMPDIR: temporary, REACHED: reached, NODE_OPTIONS: `--import=${join(temporary, "none.mjs")}` }
  const { code, stdout, stderr } = await cli(["demo", "--remove"], { cwd: temporary, env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toMatch(
    /^1\. Requests, decoded live by the pocket model\n {3}It is a demonstration model of 2\.9 million parameters/,
  )
  expect(stdout).toMatch(/tokens in [\d.]+ m?s, \d+ a second/)
  expect(stdout).toMatch(
    /The calls for \d of 7 requests were right, as the model decoded them\.\n\n[0-9a-f]+ fix add\n/,
  )
  expect(stdout).toMatch(
    /\n2\. A task, played by a screenplay\nThe model is a screenplay[^]*With a real model: toolwright demo --model/,
  )
  for (const text of FIBONACCI) expect(stdout).toContain(text)
  expect(stdout).toMatch(/git log \(2 commits\)\n[0-9a-f]+ Add fibonacci implementation/)
  expect(readdirSync(temporary).filter((name) => name.startsWith("toolwright-demo-"))).toEqual([])
  expect(existsSync(reached), "it needs no network").toBe(false)
  // What tells is awake: a process that asks for a page is refused, and that is written down.
  const asking = ["--input-type=module", "--eval", 'await fetch("http://127.0.0.1:49151/")']
  expect(spawnSync(process.execPath, asking, { env: { ...process.env, ...env } }).status).not.toBe(0)
  expect(readFileSync(reached, "utf8")).toContain("127.0.0.1")
})

test("without the pocket model it says so, and plays the screenplay all the same; as lines of JSON where they are wanted", async () => {
  const temporary = folderWith({
    "no-model.mjs":
      'import { registerHooks } from "node:module"\nregisterHooks({ resolve(name, context, next) { if (name' +
      '.startsWith("@toolwright/pocket/")) throw new Error("no model"); return next(name, context) } })\n',
  })
  const { code, stdout } = await cli(["demo", "--remove", "--json"], {
    cwd: temporary,
    env: { TMPDIR: temporary, NODE_OPTIONS: `--import ${join(temporary, "no-model.mjs")}` },
  })
  expect(code).toBe(0)
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; text?: string; model?: string; summary?: { success: boolean } })
  const notes = events.filter(({ type }) => type === "note").map(({ text }) => text)
  expect(notes[0]).toContain("decoded live by the pocket model")
  expect(notes[1]).toMatch(
    /^This part is left out: the pocket model cannot run here\.[^]*npm install @toolwright\/pocket/,
  )
  expect(notes[2]).toContain("The model is a screenplay")
  expect(events.find(({ type }) => type === "run-start")).toMatchObject({ model: "screenplay" })
  expect(events.find(({ type }) => type === "run-end")).toMatchObject({ summary: { success: true } })
})

test("without git it says so", async () => {
  const temporary = folderWith()
  expect(await cli(["demo"], { env: { PATH: "/nonexistent", TMPDIR: temporary } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("needs git"),
  })
})
