import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assistantProfile } from "@toolwright/runtime"
import { expect, onTestFinished, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { playRequests } from "./model-part.ts"
import { createDemoRepository } from "./repository.ts"
import { PROJECT, REQUESTS, type ExpectedCall } from "./requests.ts"

/** A screenplay in which the model makes these calls for each request, and then says something. */
function screenplay(answers: readonly (readonly ExpectedCall[])[]): string {
  const steps = answers.flatMap((calls) => [
    ...calls.map(({ name, arguments: args }) => ({ reply: { calls: [{ name, arguments: args }] } })),
    { reply: "So much for that." },
  ])
  return join(folderWith({ "play.json": JSON.stringify({ model: "player", steps }) }), "play.json")
}

async function played(
  model: NonNullable<Parameters<typeof playRequests>[1]["model"]>,
  signal = new AbortController().signal,
) {
  const repository = await createDemoRepository(PROJECT, "Add up a bill")
  onTestFinished(() => rmSync(repository.path, { recursive: true, force: true }))
  let text = ""
  const stdout = { write: (piece: string) => (text += piece) }
  const invocation = {
    args: [],
    stdout,
    stderr: stdout,
    stdin: (async function* () {})(),
    env: process.env,
    cwd: repository.path,
    signal,
    isTTY: { stdin: false, stdout: false, stderr: false },
  }
  const outcome = await playRequests(invocation, {
    repository,
    json: false,
    say: (line) => void stdout.write(`${line}\n`),
    model,
    agent,
  })
  return { outcome, text, repository }
}

const agent = { ...assistantProfile, tools: { splitActions: true } }
const right = REQUESTS.map(({ calls }) => calls)

test("the calls of a model that is right are run, and their results are real: a test fails, the change mends it, the commit is there", async () => {
  const { outcome, text, repository } = await played({ screenplay: screenplay(right) })
  expect(outcome).toBe(true)
  expect(text).toMatch(/> run the tests\n[^]*failed test [^]*> replace[^]*> run the tests\n[^]*ok {5}test [^]*> commit/)
  expect(text).toContain("The calls for 7 of 7 requests were right, as the model decoded them.")
  expect(text).not.toContain("wrong")
  expect(readFileSync(join(repository.path, "notes/plan.txt"), "utf8").trim()).toBe("ask for the currency")
  expect(await repository.git("log", "--format=%s")).toBe("fix add\nAdd up a bill\n")
})

test("a wrong call is shown, called wrong and not run; the right one is made and called ours", async () => {
  const wrong = right
    .with(4, [{ name: "delete_file", arguments: { path: "src/bill.js" } }])
    .with(6, [{ name: "git_commit", arguments: { mesage: "fix add" } }])
    .with(2, [])
  const { outcome, text, repository } = await played({ screenplay: screenplay(wrong) })
  expect(outcome).toBe(true)
  expect(text).toMatch(
    /The model was wrong here: it did not make the call that was asked for\.\n {2}The right call, made by this demonstration and not by the model:\n[^]*write_file path=notes\/plan\.txt/,
  )
  expect(text).toMatch(
    /call {3}delete_file \{"path":"src\/bill\.js"\}\n[^]*was not approved[^]*The model was wrong here: it decoded delete_file path=src\/bill\.js\. Only what was asked for is run\.[^]*not by the model:\n {2}ok {5}edit_file/,
  )
  expect(text).toContain("The calls for 4 of 7 requests were right")
  expect(await repository.git("show", "--format=%s", "--stat")).toMatch(/^fix add\n[^]*src\/bill\.js/)
})

test("a second call of the right kind is one too many", async () => {
  const twice = right.with(3, [...right[3]!, ...right[3]!])
  const { outcome, text } = await played({ screenplay: screenplay(twice) })
  expect(outcome).toBe(true)
  expect(text).toMatch(/wrong here: it decoded test a second time\. Only what was asked for is run\.\n\n>/)
})

test("where the model cannot be loaded it says so and what to do, and leaves the part out", async () => {
  const { outcome, text } = await played({ path: join(mkdtempSync(join(folderWith(), "x")), "no.gguf") })
  expect(outcome).toBe("skipped")
  expect(text).toMatch(/^This part is left out: the pocket model cannot run here\. .*no\.gguf/)
})

test("where it was interrupted while the model was loaded, it says nothing of the model", async () => {
  const { outcome, text } = await played({ path: join(folderWith(), "no.gguf") }, AbortSignal.abort())
  expect({ outcome, text }).toEqual({ outcome: false, text: "" })
})
