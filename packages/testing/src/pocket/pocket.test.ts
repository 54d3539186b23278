import { execFileSync } from "node:child_process"
import { describe, expect, test } from "vitest"
import { callsOf } from "../run/agent-run.ts"
import { runAgent } from "../run/run-agent.ts"
import { workspace } from "../workspace/workspace.ts"
import { pocket, pocketAvailable } from "./pocket.ts"

const { available, skip } = await pocketAvailable()

describe.skipIf(!available)(available ? "the pocket model" : `the pocket model (${skip})`, () => {
  test("reads what it is asked to read, by the path that it was told", async () => {
    using project = workspace({ files: { "README.md": "# Sums\n\nAdds numbers.\n" } })
    const run = await runAgent({
      task: "show me the first 5 lines of README.md",
      backend: await pocket({ workspace: project }),
      workspace: project,
    })
    expect(callsOf(run)[0], run.transcript).toEqual({
      call: "read_text_file",
      arguments: { path: "README.md", head: 5 },
    })
    expect(run.calls[0]!.output).toContain("# Sums")
    expect(run.changed).toEqual([])
  })

  test("is one model, however often it is opened and closed", async () => {
    const [one, two] = await Promise.all([pocket(), pocket({ workspace: { path: "/elsewhere" } })])
    await one.close!()
    expect((one as { engine?: unknown }).engine).toBe((two as { engine?: unknown }).engine)
    using project = workspace({ files: { "a.txt": "" } })
    const run = await runAgent({ task: "list the files in .", backend: two, workspace: project })
    expect(
      run.events.map(({ type }) => type),
      run.transcript,
    ).toContain("reply")
  })
})

test("where the model is missing, the reason to skip says what to do", () => {
  const hooks = `import { registerHooks } from "node:module"
registerHooks({ resolve(name, context, next) { if (name.startsWith("@toolwright/pocket/")) throw new Error("it is not there"); return next(name, context) } })`
  const code = `import { pocketAvailable } from "@toolwright/testing"; console.log((await pocketAvailable()).skip)`
  const flags = [
    "--conditions=toolwright-source",
    "--import",
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    "--input-type=module",
    "--eval",
    code,
  ]
  expect(execFileSync(process.execPath, flags, { encoding: "utf8", cwd: import.meta.dirname })).toBe(
    "The pocket model does not work here: The built-in pocket model is missing: the package @toolwright/pocket " +
      "cannot be found. Install it: npm install @toolwright/pocket\n",
  )
})
