import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import type { RunEvent } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { startModelServer, type Body } from "../testing/model-servers.ts"
import { cli, folderWith, startCli, type Finished } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]
type Served = ReturnType<typeof createScriptedBackend> & { options: string[] }

/** A server of a model that says this, and the options that lead to it. */
async function model(steps: Steps, native = true, name = "qwen2.5"): Promise<Served> {
  const backend = createScriptedBackend({ model: name, abilities: { nativeTools: native }, steps })
  const server = await serveBackend(backend)
  onTestFinished(server.close)
  return Object.assign(backend, { options: ["--model", name, "--base-url", server.baseUrl] })
}

const calling = (name: string, args: object = {}) => ({ name, arguments: { ...args } })

const run = (cwd: string, ...options: string[]) => runBy(here, cwd, options)

async function runBy(
  command: (args: string[], options: { cwd: string }) => Promise<Finished>,
  cwd: string,
  options: readonly string[],
) {
  const finished = await command(["run", "go", "--json", ...options], { cwd })
  const events = finished.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as RunEvent]))
  const results = events.flatMap((event) => (event.type === "tool-end" ? [event] : []))
  return { ...finished, events, results }
}

/** What each call came to: its error's code, or that there was none. */
const outcomes = (results: readonly { name: string; result: { error?: { code: string } } }[]) =>
  Object.fromEntries(results.map(({ name, result }) => [name, result.error?.code ?? "ok"]))

const PLAY = { "play.yaml": "steps: [{ reply: Done., repeat: always }]\n" }

test("what answers is chosen by what is set, is the pocket model where nothing is, and is what --backend says", async () => {
  const { options } = await model([{ reply: "Done.", repeat: "always" }])
  const answers = async (...more: string[]) => {
    const { events, code } = await run(folderWith({ ...PLAY, "a.txt": "one\n" }), ...more)
    return [events[0]?.type === "run-start" ? events[0].model : undefined, code]
  }
  expect(await answers(...options)).toEqual(["qwen2.5", 0])
  expect(await answers("--screenplay", "play.yaml")).toEqual(["screenplay", 0])
  expect((await answers())[0]).toBe("toolwright-pocket")
  expect((await answers("--backend", "pocket", ...options))[0]).toBe("toolwright-pocket")
  const unknown = await run(folderWith(), "--backend", "llamma")
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/openai-compatible, .*ollama.*pocket/) })
})

test("a server that is not asked is taken for what --dialect says", async () => {
  const asked = async (...more: string[]): Promise<Body> => {
    const server = await startModelServer("vllm", [{ text: "Done." }])
    const text = ["--native-tools", "false", "--format", "hermes"]
    const line = ["--model", "m-7b", "--base-url", `${server.baseUrl}/v1`, ...text, ...more]
    expect((await run(folderWith(), ...line)).code).toBe(0)
    return server.asked[0]!.body
  }
  expect(await asked()).toHaveProperty("structured_outputs.structural_tag")
  expect(await asked("--dialect", "auto")).toHaveProperty("structured_outputs.structural_tag")
  expect(await asked("--dialect", "sglang")).toHaveProperty("response_format.type", "structural_tag")
  const plain = await asked("--dialect", "generic")
  expect([plain.structured_outputs, plain.response_format]).toEqual([undefined, undefined])
})

const ECHO = JSON.stringify(calling("echo", { message: "hi" }))

test.each([
  ["structured", "<tool_call>"],
  ["hybrid", "<tool_call>"],
  ["text", '{"tool": "tool_name"'],
] as const)("with --tool-calling %s a model is taught to call by %s", async (mode, mark) => {
  const { options, requests } = await model([{ reply: "Done." }], false)
  await run(folderWith(), ...options, "--native-tools", "false", "--tool-calling", mode)
  const prompt = String(requests[0]!.messages[0]!.content)
  expect(["<tool_call>", '{"tool": "tool_name"'].filter((each) => prompt.includes(each))).toEqual([mark])
})

test("with --tool-calling structured JSON in the text of a server with tool use is no call", async () => {
  const steps: Steps = [{ reply: `\`\`\`json\n${ECHO}\n\`\`\`` }, { reply: "Done.", repeat: "always" }]
  for (const [mode, calls] of [
    ["structured", 0],
    ["hybrid", 1],
  ] as const) {
    const { options } = await model(steps, true, "some-model")
    const { results } = await run(folderWith(), ...options, "--tool-calling", mode)
    expect([mode, results.length]).toEqual([mode, calls])
  }
})

test("a reply that reasons longer than --reasoning-tokens is stopped and told to act", async () => {
  const steps: Steps = [
    { reply: { reasoning: "Hm. ".repeat(500), text: "It is so.", chunks: 10 } },
    { reply: "Done.", repeat: "always" },
  ]
  const requests = async (...more: string[]) => {
    const { options, requests: sent } = await model(steps)
    const { events } = await run(folderWith(), ...options, ...more)
    return [sent.length, events.filter(({ type }) => type === "nudge").length]
  }
  expect(await requests()).toEqual([1, 0])
  expect(await requests("--reasoning-tokens", "100")).toEqual([2, 1])
})

test("--tool-timeout is the time limit of tools that set none, and of no others", async () => {
  const tool = (name: string, more: string, execute: string) =>
    `export const ${name} = defineTool({ name: "${name}", description: "d", parameters: { type: "object" }, ` +
    `${more} execute: ${execute} })\n`
  const never = "() => new Promise(() => {})"
  const later = "() => new Promise((done) => setTimeout(() => done({ late: true }), 1500))"
  const tools = tool("unlimited", "", never) + tool("limited", "timeoutMs: 60000,", later)
  const cwd = folderWith({ "own.ts": `import { defineTool } from "toolwright"\n${tools}` })
  const { options } = await model([
    { reply: { calls: [calling("unlimited"), calling("limited")] } },
    { reply: "Done." },
  ])
  const { results } = await runBy(cli, cwd, [...options, "--tools", "own.ts", "--tool-timeout", "1"])
  expect(outcomes(results)).toEqual({ unlimited: "TIMEOUT", limited: "ok" })
})

test("a model is told of twelve tools at most and a search, or with --catalogue whole of all", async () => {
  const own = Array.from({ length: 20 }, (_, at) => `tool_${at}`)
  const tools = own.map(
    (name) => `{ name: "${name}", description: "${name}", parameters: { type: "object" }, handler: () => "" }`,
  )
  const cwd = folderWith({ "own.mjs": `export default [${tools.join(", ")}]\n` })
  const told = async (...more: string[]) => {
    const { options, requests } = await model([{ reply: "Done." }])
    expect((await run(cwd, ...options, "--tools", "own.mjs", ...more)).code).toBe(0)
    return (requests[0]!.tools ?? []).map((tool) => tool.function.name)
  }
  const searched = await told()
  expect(searched.length).toBeLessThanOrEqual(14)
  expect(searched).toContain("tool_search")
  const whole = await told("--catalogue", "whole")
  expect(whole).toEqual(expect.arrayContaining(own))
  expect(whole).not.toContain("tool_search")
})

describe("where nobody can be asked", () => {
  const CALLS = [
    calling("delete_file", { path: "a.txt" }),
    calling("move_file", { source: "b.txt", destination: "c.txt" }),
    calling("bash", { command: "touch made" }),
    calling("git", { action: "push" }),
    calling("test"),
    calling("file", { action: "write", path: "new.txt", content: "x" }),
  ]
  const files = { "a.txt": "a\n", "b.txt": "b\n", "package.json": '{ "scripts": { "test": "exit 0" } }' }
  const refused = "PERMISSION_DENIED"

  async function careful(...more: string[]) {
    const cwd = folderWith(files)
    const { options } = await model([{ reply: { calls: CALLS } }, { reply: "Done." }])
    const { results } = await run(cwd, ...options, ...more)
    return { cwd, ruled: outcomes(results), there: (name: string) => existsSync(join(cwd, name)) }
  }

  test("--careful keeps from deleting, moving, publishing and commands, and from nothing else", async () => {
    const { ruled, there } = await careful("--careful")
    expect(ruled).toEqual({
      ...Object.fromEntries(["delete_file", "move_file", "bash", "git"].map((name) => [name, refused])),
      test: "ok",
      file: "ok",
    })
    expect(["a.txt", "b.txt", "made", "new.txt"].map(there)).toEqual([true, true, false, true])
  })

  test("a rule speaks before --careful: what is allowed is not asked about", async () => {
    const { ruled, there } = await careful("--careful", "--allow-tool", "delete_*", "--allow-tool", "move_file")
    expect(ruled).toMatchObject({ delete_file: "ok", move_file: "ok", bash: refused, git: refused })
    expect(["a.txt", "b.txt", "c.txt"].map(there)).toEqual([false, false, true])
  })

  test("--deny-tool takes tools by their characters, and wins over --allow-tool", async () => {
    const { ruled, there } = await careful("--deny-tool", "delete_fil?", "--deny-tool", "m*", "--allow-tool", "*")
    expect(ruled).toMatchObject({ delete_file: refused, move_file: refused, file: "ok" })
    expect(["a.txt", "b.txt"].map(there)).toEqual([true, true])
  })

  test("--allow-tool lets run what a file's rule asks about", async () => {
    const cwd = folderWith({ ...files, "own.yaml": "permissions: { ask: [delete_file] }\n" })
    for (const [more, ruling] of [
      [[], refused],
      [["--allow-tool", "delete_file"], "ok"],
    ] as const) {
      const { options } = await model([{ reply: { calls: [CALLS[0]!] } }, { reply: "Done." }])
      const { results } = await run(cwd, ...options, "--config", "own.yaml", ...more)
      expect(outcomes(results)).toEqual({ delete_file: ruling })
    }
    expect(existsSync(join(cwd, "a.txt"))).toBe(false)
  })
})

test("--show-secret shows secrets of its kinds and no others", async () => {
  const github = `ghp_${"a1B2".repeat(9)}`
  const aws = "AKIAQWERTYUIOPASDFGH"
  const cwd = folderWith({ "keys.txt": `${github}\n${aws}\n` })
  const shown = async (...more: string[]) => {
    const { stdout } = await here(["tools", "call", "read_text_file", "--path", "keys.txt", ...more], { cwd })
    return [stdout.includes(github), stdout.includes(aws)]
  }
  expect(await shown()).toEqual([false, false])
  expect(await shown("--show-secret", "github")).toEqual([true, false])
  expect(await shown("--show-secret", "all")).toEqual([true, true])
})

describe("what holds for all commands", () => {
  test("results go to standard output, errors to standard error, and the exit code says which", async () => {
    const cwd = folderWith({ ...PLAY, "a.txt": "one\n" })
    const call = ["tools", "call", "read_text_file", "--path"]
    expect(await here([...call, "a.txt"], { cwd })).toMatchObject({ code: 0, stdout: "one\n", stderr: "" })
    const missing = await here([...call, "b.txt"], { cwd })
    expect(missing).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("b.txt") })
    const wrong = await here(["runs", "--jsn"], { cwd })
    expect(wrong).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--jsn") })
    const configured = await here(["run", "x", "--max-rounds", "many"], { cwd })
    expect(configured).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("max-rounds") })
    const undone = await here(["run", "x", "--agent", "builder", "--screenplay", "play.yaml"], { cwd })
    expect(undone.code).toBe(1)
  })

  test("an interrupt leaves what calls had done, and what a command had changed can be taken back", async () => {
    const command = "echo half > half.txt; echo begun > begun.txt; sleep 60"
    const calls = [calling("file", { action: "write", path: "new.txt", content: "x" }), calling("bash", { command })]
    const { options } = await model([{ reply: { calls } }])
    const cwd = folderWith()
    const running = startCli(["run", "go", "--json", ...options], { cwd })
    await running.until(/"tool-end"[^]*"tool-start"/)
    await vi.waitFor(() => expect(existsSync(join(cwd, "begun.txt"))).toBe(true), { timeout: 30_000, interval: 50 })
    running.child.kill("SIGINT")
    expect((await running.finished).code).toBe(130)
    expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("x")
    expect(await here(["undo", "--yes"], { cwd })).toMatchObject({ code: 0 })
    expect(["new.txt", "half.txt", "begun.txt"].filter((name) => existsSync(join(cwd, name)))).toEqual([])
  })

  test("--json prints the events that stand in the record, in their order", async () => {
    const cwd = folderWith({ "a.txt": "one\n" })
    const { options } = await model([
      { reply: { text: "I look.", calls: [calling("read_text_file", { path: "a.txt" })] } },
      { reply: "It says one." },
    ])
    const { events } = await run(cwd, ...options)
    const { stdout } = await here(["runs", "show", "latest", "--json"], { cwd })
    const recorded = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as RunEvent).type)
    const printed = events.map(({ type }) => type)
    expect(recorded).toContain("tool-end")
    expect(printed.filter((type) => recorded.includes(type))).toEqual(recorded)
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n")
  })
})
