import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { configurationSchema } from "./schema.ts"
import { defaultConfiguration, loadConfiguration } from "./load.ts"
import { mask } from "./mask.ts"

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "configuration-"))
  return () => rmSync(cwd, { recursive: true, force: true })
})

const write = (text: string) => writeFileSync(join(cwd, "toolwright.yaml"), text)
const load = (flags = {}, env = {}) => loadConfiguration({ cwd, env, flags })
const failure = async (flags = {}, env = {}) => {
  try {
    await load(flags, env)
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error("it loaded")
}

describe("a configuration", () => {
  test("is the defaults where nothing is said", async () => {
    const { configuration, sources, file } = await load()
    expect(configuration).toEqual(defaultConfiguration())
    expect(configuration.agent.maxRounds).toBe(20)
    expect(sources.get("agent.maxRounds")).toBe("default")
    expect(file).toBeUndefined()
  })

  test("comes from the file, then the environment, then flags, and each value knows its source", async () => {
    write("model:\n  name: from-file\n  baseUrl: http://file/v1\n  temperature: 0.5\nagent:\n  maxRounds: 5\n")
    const { configuration, sources } = await load(
      { model: "from-flag" },
      { TOOLWRIGHT_MODEL: "from-env", TOOLWRIGHT_BASE_URL: "http://env/v1" },
    )
    expect(configuration.model).toMatchObject({ name: "from-flag", baseUrl: "http://env/v1", temperature: 0.5 })
    expect(configuration.agent.maxRounds).toBe(5)
    expect([...sources].filter(([key]) => ["model.name", "model.baseUrl", "agent.maxRounds"].includes(key))).toEqual([
      ["model.name", "flag --model"],
      ["model.baseUrl", "environment TOOLWRIGHT_BASE_URL"],
      ["agent.maxRounds", `file ${join(cwd, "toolwright.yaml")}`],
    ])
  })

  test("is found in a folder above", async () => {
    write("model: { name: above }\n")
    mkdirSync(join(cwd, "a", "b"), { recursive: true })
    const { configuration } = await loadConfiguration({ cwd: join(cwd, "a", "b"), env: {} })
    expect(configuration.model.name).toBe("above")
  })

  test("reads texts of flags and variables by type", async () => {
    const { configuration } = await load({
      root: ["a", "b"],
      "native-tools": "false",
      temperature: "0.2",
      "only-tools": "file,search",
    })
    expect(configuration.workspace.roots).toEqual(["a", "b"])
    expect(configuration.model).toMatchObject({ nativeTools: false, temperature: 0.2 })
    expect(configuration.builtins.only).toEqual(["file", "search"])
  })
})

describe("mistakes", () => {
  test("are all reported, with their line and the right spelling", async () => {
    write(
      "modle:\n  name: x\nmodel:\n  base_url: http://x\n  temperature: hot\nagent:\n  maxRounds: 0\n  " +
        "toolCalling: text\n",
    )
    const { code, message } = await failure()
    expect(code).toBe("INVALID_CONFIGURATION")
    expect(message).toContain("line 1: there is no setting 'modle'. Did you mean 'model'?")
    expect(message).toContain("line 4: there is no setting 'model.base_url'. Did you mean 'model.baseUrl'?")
    expect(message).toContain(`line 5: 'model.temperature' must be a number, but "hot" stands there.`)
    expect(message).toContain("line 7: 'agent.maxRounds' must be at least 1")
    expect(message).toContain("line 8: there is no setting 'agent.toolCalling'. Did you mean 'model.toolCalling'?")
  })

  test("name where a key of other programs stands here, with the lines to write", async () => {
    write("mcpServers:\n  files: { command: x }\nallowedTools: [bash]\n")
    const { message } = await failure()
    expect(message).toContain(
      "line 1: there is no setting 'mcpServers'. MCP servers stand under 'mcp.servers':\n  mcp:\n    servers: {",
    )
    expect(message).toMatch(/line 3: .*stand under 'permissions\.allow':\n {2}permissions:\n {4}allow: \[/)
    for (const lines of message.matchAll(/':\n((?: {2}.*\n?)+)/g)) {
      write(lines[1]!)
      await expect(load()).resolves.toBeDefined()
    }
  })

  test.each([
    ["model: [", "line "],
    ["- a\n", "The file must be a mapping"],
    ["model: 3\n", "'model' must be a mapping of settings"],
    ["model: { toolCalling: magic }\n", "must be one of structured, hybrid, text"],
    ["model: { name: [a] }\n", "must be a text"],
  ])("in the file %j", async (text, expected) => {
    write(text)
    expect((await failure()).message).toContain(expected)
  })

  test("in flags and variables name the flag or variable", async () => {
    expect((await failure({ "max-rounds": "many" })).message).toBe(
      "--max-rounds must be a number, but 'many' was given.",
    )
    expect((await failure({}, { TOOLWRIGHT_NATIVE_TOOLS: "perhaps" })).message).toContain(
      "TOOLWRIGHT_NATIVE_TOOLS must be true or false",
    )
  })
})

test.skipIf(process.platform === "win32")("a pipe in the file's place is not waited for", async () => {
  execFileSync("mkfifo", [join(cwd, "toolwright.yaml")])
  expect((await load()).file).toBeUndefined()
})

test("a file that is not UTF-8 is refused, not guessed at", async () => {
  writeFileSync(join(cwd, "toolwright.yaml"), Buffer.from("model:\n  name: caf\xe9\n", "latin1"))
  expect(await failure()).toMatchObject({
    code: "INVALID_CONFIGURATION",
    message: expect.stringContaining("cannot be read") as string,
  })
})

test("an empty file is no mistake", async () => {
  write("# nothing yet\n")
  expect((await load()).configuration).toEqual(defaultConfiguration())
})

test("what a library user gives lies over the defaults", () => {
  expect(defaultConfiguration({ model: { name: "m" }, builtins: { bash: { sandbox: "off" } } })).toMatchObject({
    model: { name: "m", toolCalling: "hybrid" },
    builtins: { bash: { sandbox: "off" } },
  })
})

test("a secret shows at most its last four characters", () => {
  expect(mask("sk-1234567890abcd")).toBe("••••abcd")
  expect(mask("short")).toBe("••••")
})

test("the published schema is the one that the settings make", () => {
  const file = new URL("../../schema/toolwright.schema.json", import.meta.url)
  if (process.env.UPDATE_DOCS === "1") writeFileSync(file, `${JSON.stringify(configurationSchema(), null, 2)}\n`)
  const published = JSON.parse(readFileSync(file, "utf8")) as unknown
  expect(published).toEqual(configurationSchema())
})
