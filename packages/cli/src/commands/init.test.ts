import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, test, vi } from "vitest"
import { BUILT, cli, folderWith, userOfTests } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

// Programs are installed and started, one after another.
vi.setConfig({ testTimeout: 180_000 })

const PAGE = fileURLToPath(new URL("../../../../docs/own-tools.md", import.meta.url))

/** The first commands of the page, as they stand there. */
function transcript(): string[] {
  const [, block] = /^```sh\n([^]*?)^```/m.exec(readFileSync(PAGE, "utf8"))!
  return block!.trim().split("\n")
}

test("from nothing to an own tool that the pocket model and a real one call, by the page alone, in at most ten commands", async () => {
  const lines = transcript()
  expect(lines.length).toBeLessThanOrEqual(10)
  const folder = folderWith()
  const steps = [
    { reply: { calls: [{ name: "count_words", arguments: { path: "README.md" } }] } },
    { expect: { last: "words" }, reply: "It has a few dozen." },
  ]
  await using model = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  let cwd = folder
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, XDG_STATE_HOME: join(folder, "state"), NO_COLOR: "1" }
  const said: string[] = []
  for (const line of lines) {
    if (line.startsWith("cd ")) {
      cwd = join(cwd, line.slice(3))
      continue
    }
    const command = line
      .replace(/^toolwright/, `"${process.execPath}" "${BUILT}"`)
      .replace(/http:\/\/localhost:\d+\/v1/, model.baseUrl)
      .replace(/^npm install$/, "npm install --offline --no-audit --no-fund")
    const result = await run(command, cwd, env)
    said.push(result.output)
    expect(result.code, `${line}\n${result.output}`).toBe(0)
  }
  const [init, install, tested, called, pocket, real, made] = said
  expect(init).toContain("made my-tools/tools/count-words.ts")
  expect(install).toMatch(/added \d+ package/)
  expect(tested).toMatch(/pass 1\n/)
  expect(called).toMatch(/"words": \d+/)
  expect(pocket).toMatch(/call count_words path=README.md[^]*count_words answered \{"words":\d+\}/)
  expect(real).toMatch(/count_words[^]*It has a few dozen\./)
  expect(made).toContain("made tools/shout.ts")
  const runs = await run(`"${process.execPath}" "${BUILT}" runs list`, cwd, env)
  expect(runs.output.match(/completed/g), runs.output).toHaveLength(2)
})

function run(
  command: string,
  cwd: string,
  env: Record<string, string | undefined>,
): Promise<{ code: number | null; output: string }> {
  return import("node:child_process").then(
    ({ exec }) =>
      new Promise((resolve) => {
        const child = exec(command, { cwd, env: env as NodeJS.ProcessEnv }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : (child.exitCode ?? 1), output: stdout + stderr }),
        )
      }),
  )
}

test("a name that cannot be is refused with the one that it may be", async () => {
  for (const [given, may] of [
    ["ProofReader", "proof_reader"],
    ["2 Much!", "much"],
    ["é", "my_own"],
  ])
    expect(await here(["new", "agent", given!], { cwd: folderWith() })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`toolwright new agent ${may}\n`),
    })
})

test("each thing that can be made works as it is made, and nothing is written over", async () => {
  const cwd = folderWith({ "README.md": "one two\n" })
  for (const kind of ["tool", "agent", "format", "prompt"]) {
    expect((await here(["new", kind, "my_own"], { cwd })).code, kind).toBe(0)
    const again = await here(["new", kind, "my_own"], { cwd })
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("is there already") })
  }
  const called = await cli(["tools", "call", "my_own", "--text", "one two", "--tools", "./tools"], { cwd })
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('"text": "one two"') })
  expect(readFileSync(join(cwd, "tools/my-own.ts"), "utf8"), "a skeleton, and no other tool").not.toMatch(/word/i)
  const rendered = await cli(["prompts", "render", "my_own", "--prompts", "prompts", "--arg", "text=hello"], { cwd })
  expect(rendered).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") })
  // As the command is told, also where no package is installed beside the file.
  const tried = await cli(["format", "try", "formats/my_own.ts"], { cwd })
  expect(tried).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/<<calls>>look_up\|\{"word": "parrot".*Read back: the same calls/s),
  })
  const byNpx = await here(["new", "tool", "other"], { cwd, env: { npm_command: "exec" } })
  expect(byNpx.stdout).toContain("Try it: npx toolwright tools call other ")
  // What it says holds in a folder without a README too, and is asked to be tried as it stands there.
  const [, line] = /^Try it: npx toolwright (.*)$/m.exec(byNpx.stdout)!
  expect(await cli(line!.split(" "), { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") })
  expect(byNpx.stdout).toContain("Say what it does in tools/other.ts, in 'description', 'parameters' and 'execute'.")
  const [, setting] = /write '(.*)' into toolwright.yaml, then npx toolwright trust$/m.exec(byNpx.stdout)!
  const configured = folderWith({ "toolwright.yaml": `${setting}\n` })
  const second = await here(["new", "tool", "other"], { cwd: configured })
  expect(second.stdout).not.toContain("toolwright.yaml")
  expect(await cli(["tools", "show", "other", "--trust"], { cwd: configured })).toMatchObject({ code: 0 })
  const third = await here(["new", "agent", "looker"], { cwd: configured })
  expect(third.stdout, "the configuration takes tools alone").toContain("write 'agents: { files: [./agents] }' into")
  expect(await here(["init"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/README\.md is there already.*\n.*toolwright new tool/),
  })
  const untaken = await here(["agents", "show", "my_own"], { cwd })
  expect(untaken.stderr).toContain("agents/my_own.yaml is there: take it with --agents ./agents")
  const agents = await here(["agents", "--agents", "./agents"], { cwd })
  expect(agents).toMatchObject({ code: 0, stdout: expect.stringMatching(/my_own +own +nothing/) })
  expect((await here(["new", "hat", "x"], { cwd })).stderr).toContain("tool, agent, format or prompt")
  expect((await cli(["init", "project"], { cwd })).code).toBe(0)
  const inProject = await here(["new", "tool", "next_one"], { cwd: join(cwd, "project") })
  expect(inProject.stdout, "its configuration takes the folder").toMatch(/^Try it: .* --text hello$/m)
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd: join(cwd, "project") })
  const made = join(cwd, "project")
  for (const kind of ["format", "agent"]) await here(["new", kind, "my_own"], { cwd: made })
  const node = (file: string, env: Record<string, string> = {}) =>
    spawnSync(process.execPath, ["--conditions=toolwright-source", file], {
      cwd: made,
      encoding: "utf8",
      env: { ...userOfTests(), ...env },
    })
  expect(node("tests/next-one.test.ts")).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/pass 1\n/) as string,
  })
  expect(node("formats/my_own.ts")).toMatchObject({ status: 0, stdout: "" })
})
