import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, executeCall, type Middleware } from "@toolwright/toolbox"
import { beforeEach, describe, expect, test } from "vitest"
import { createToolwright, type ToolwrightOptions } from "../toolwright.ts"
import { configuredSecrets, environmentSecrets } from "./values.ts"
import { defaultConfiguration } from "../configuration/load.ts"

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "secrets-"))
  return () => rmSync(cwd, { recursive: true, force: true })
})

const GITHUB = `ghp_${"aB3".repeat(12)}`
const AWS = "AKIAABCDEFGHIJKLMNOP"
const JWT = `eyJ${"hbGciOi".repeat(4)}.eyJ${"zdWIi".repeat(4)}.${"c2lnbmF0".repeat(4)}`
const PEM = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq\n".repeat(10)}-----END PRIVATE KEY-----`
const VALUE = "correct-horse-7-battery"
const SECRETS = { GITHUB, AWS, JWT, PEM, VALUE }
const env = { DEPLOY_TOKEN: VALUE, PATH: process.env.PATH ?? "" }

const leaks = defineTool({
  name: "leaks",
  description: "Gives secrets back, in every part of a result",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  execute: (_args, { progress }) => {
    progress({ message: GITHUB.slice(0, 12) })
    progress({ message: GITHUB.slice(12) })
    return { ...SECRETS, list: Object.values(SECRETS), [GITHUB]: 1, at: new Date(0) }
  },
})

const assemble = (options: ToolwrightOptions = {}) =>
  createToolwright({ cwd, env, tools: [leaks], workspace: {}, ...options })
const secretsIn = (text: string) =>
  Object.entries(SECRETS).filter(
    ([, secret]) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
  )

test("no result of any call holds a secret, in text, data, names or errors", async () => {
  await using toolwright = await assemble()
  const fails = defineTool({
    name: "fails",
    description: "",
    parameters: { type: "object" },
    execute: () => {
      throw new Error(`no access with ${GITHUB} and ${VALUE}`)
    },
  })
  toolwright.registry.register(fails)
  for (const name of ["leaks", "fails"]) {
    const result = await executeCall(
      toolwright.registry,
      { name, arguments: {} },
      { middleware: toolwright.middleware },
    )
    expect(secretsIn(JSON.stringify(result))).toEqual([])
    expect(JSON.stringify(result)).toContain("[secret]")
  }
})

test("neither the model nor the record is told one, from wherever it comes", async () => {
  writeFileSync(join(cwd, ".npmrc"), `//registry/:_authToken=${"x9".repeat(20)}\n`)
  const steps = [
    {
      reply: {
        text: `I use ${AWS}`,
        calls: [
          { name: "leaks", arguments: { text: PEM } },
          { name: "read_text_file", arguments: { path: ".npmrc" } },
        ],
      },
    },
    { reply: { text: `Now with ${VALUE}`, calls: [{ name: `no_${GITHUB}`, arguments: {} }] } },
    { reply: `Done, ${JWT}` },
  ]
  const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
  await using toolwright = await assemble({ backend })
  const { runId } = await toolwright.complete(`Deploy with ${GITHUB} and ${VALUE}`)
  expect(backend.requests).toHaveLength(3)
  // The third request holds what the model itself made up, a tool's name: its own words are not news to it.
  const told = JSON.stringify(backend.requests[1]!.messages.filter(({ role }) => role === "tool"))
  expect(told).toContain("[secret]")
  expect(secretsIn(told)).toEqual([])
  expect(told).not.toContain("x9x9")
  const { events, files } = await toolwright.readRun(runId)
  const written = [...files.map(({ text }) => text), JSON.stringify(events), await kept(toolwright)].join("\n")
  expect(secretsIn(written)).toEqual([])
  expect(written).not.toMatch(new RegExp(`x9x9|${GITHUB.slice(0, 12)}|${GITHUB.slice(12)}`))
})

describe("a part of a private key is not shown", () => {
  const body = Array.from({ length: 12 }, (_, at) => `${String.fromCharCode(65 + at)}7kQ`.repeat(16))
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${body.join("\n")}\nq9Zt/4w=\n-----END RSA PRIVATE KEY-----\n`
  beforeEach(() => {
    mkdirSync(join(cwd, "conf"))
    writeFileSync(join(cwd, "conf/deploy.txt"), `host: example\n${key}`)
    writeFileSync(join(cwd, "one-line.json"), JSON.stringify({ key, other: 1 }, undefined, 1))
    writeFileSync(join(cwd, "plain.txt"), `${"Zz9".repeat(20)}\n`)
  })
  const call = async (name: string, args: object, options: ToolwrightOptions = {}) => {
    await using toolwright = await assemble(options)
    return JSON.stringify(
      await executeCall(toolwright.registry, { name, arguments: args }, { middleware: toolwright.middleware }),
    )
  }

  test.for([
    ["read_text_file", { path: "conf/deploy.txt", start_line: 5, end_line: 9 }],
    ["read_text_file", { path: "conf/deploy.txt", tail: 3 }],
    ["read_text_file", { path: "./conf/../conf/deploy.txt", start_line: 7, end_line: 7 }],
    ["read_multiple_files", { paths: ["conf/deploy.txt"] }],
    ["file", { action: "read", path: "conf/deploy.txt", start_line: 4, end_line: 12 }],
    ["search", { action: "grep", pattern: "7kQ" }],
    ["search", { action: "grep", pattern: "7kQ", path: "conf" }],
    ["search", { action: "grep", pattern: "C7kQ", path: "conf/deploy.txt" }],
    ["search", { action: "grep", pattern: "7kQ", path: "one-line.json" }],
    ["bash", { command: "sed -n 5,9p conf/deploy.txt" }],
    ["bash", { command: "cd conf && head -6 deploy.txt | tail -2" }],
    ["bash", { command: "grep -rn 7kQ ." }],
  ] as const)("%s %j", async ([name, args]) => {
    const said = await call(name, args)
    expect(said).toContain("[secret]")
    for (const line of body) expect(said).not.toContain(line)
    expect(said).not.toContain("q9Zt/4w=")
  })

  test("unless it is to be shown, and nothing else of that form is hidden", async () => {
    const range = { path: "conf/deploy.txt", start_line: 5, end_line: 9 }
    expect(await call("read_text_file", range, { secrets: { shown: ["private-key"] } })).toContain(body[4])
    expect(await call("read_text_file", { path: "plain.txt", head: 1 })).toContain("Zz9".repeat(20))
  })
})

/** Everything that stands in the database. */
async function kept(toolwright: Awaited<ReturnType<typeof assemble>>): Promise<string> {
  const { database } = await toolwright.log.open()
  const tables = await Promise.all(
    ["runs", "run_events", "bodies", "effects"].map((table) => database.query(`SELECT * FROM ${table}`)),
  )
  return JSON.stringify(tables)
}

describe("a text with the mark in a secret's place", () => {
  const call = async (name: string, args: object, options: ToolwrightOptions = {}) => {
    await using toolwright = await assemble(options)
    const run = (tool: string, given: object) =>
      executeCall(toolwright.registry, { name: tool, arguments: given }, { middleware: toolwright.middleware })
    await run("read_text_file", { path: "config.ini" })
    return run(name, args)
  }
  const before = `user=me\ntoken=${GITHUB}\nport=1\n`
  beforeEach(() => writeFileSync(join(cwd, "config.ini"), before))

  test.each([
    ["write_file", { path: "config.ini", content: "user=me\ntoken=[secret]\nport=2\n" }],
    ["write_file", { path: "copy.ini", content: "token=[secret]\n" }],
    [
      "edit_file",
      { path: "config.ini", edits: [{ old_text: "token=[secret]\nport=1", new_text: "token=[secret]\nport=2" }] },
    ],
  ])("is not written by %s (%j)", async (name, args) => {
    expect((await call(name, args)).error).toMatchObject({
      code: "SECRET_HIDDEN",
      hint: expect.stringContaining("beside"),
    })
    expect(readFileSync(join(cwd, "config.ini"), "utf8")).toBe(before)
    expect(readdirSync(cwd)).not.toContain("copy.ini")
  })

  test("but what stands beside it can be changed", async () => {
    const result = await call("edit_file", { path: "config.ini", edits: [{ old_text: "port=1", new_text: "port=2" }] })
    expect(result.error).toBeUndefined()
    expect(readFileSync(join(cwd, "config.ini"), "utf8")).toBe(before.replace("port=1", "port=2"))
  })

  test("and a file that says [secret] itself is one like any other", async () => {
    writeFileSync(join(cwd, "words.md"), "The mark is [secret].\n")
    const result = await call("write_file", { path: "words.md", content: "A mark is [secret].\n" })
    expect(result.error).toBeUndefined()
  })
})

test("kinds can be shown, by name, and records still hold none", async () => {
  const backend = createScriptedBackend({
    abilities: { nativeTools: true },
    steps: [{ reply: { calls: [{ name: "leaks", arguments: {} }] } }, { reply: "done" }],
  })
  await using toolwright = await assemble({ backend, secrets: { shown: ["github", "environment"] } })
  const result = await executeCall(
    toolwright.registry,
    { name: "leaks", arguments: {} },
    { middleware: toolwright.middleware },
  )
  expect(secretsIn(JSON.stringify(result)).map(([name]) => name)).toEqual(["GITHUB", "VALUE"])
  const { runId } = await toolwright.complete("Go")
  expect(JSON.stringify((await toolwright.readRun(runId)).events)).toContain("tool-end")
  expect(secretsIn(await kept(toolwright))).toEqual([])
  await expect(assemble({ secrets: { shown: ["gihub"] } })).rejects.toThrow(/no kind/)
})

test("an application and a configuration set middleware around every call", async () => {
  const seen: string[] = []
  const own: Middleware = (call, next) => {
    seen.push(`own ${call.tool.name}`)
    return next()
  }
  mkdirSync(join(cwd, "m"))
  writeFileSync(
    join(cwd, "m/limit.mjs"),
    `export default async (call, next) => ({ ...(await next()), output: "limited ${GITHUB}" })\n`,
  )
  await using toolwright = await assemble({ middleware: [own], calls: { middleware: ["m/limit.mjs"] } })
  const result = await executeCall(
    toolwright.registry,
    { name: "leaks", arguments: {} },
    { middleware: toolwright.middleware },
  )
  expect({ output: result.output, seen }).toEqual({ output: "limited [secret]", seen: ["own leaks"] })
  writeFileSync(join(cwd, "m/none.mjs"), "export const x = 1\n")
  await expect(assemble({ calls: { middleware: ["m/none.mjs"] } })).rejects.toThrow(/exports no function/)
})

describe("secrets known by value", () => {
  test.each([
    ["API_KEY", "abcdef123456", true],
    ["myApiKey", "abcdef123456", true],
    ["DB_PASSWORD", "hunter2hunter2", true],
    ["DB_PASSWORD", "postgres", false],
    ["PASSWORD", "short1", false],
    ["SSH_AUTH_SOCK", "/tmp/ssh-1/agent.1", false],
    ["TOKEN_FILE", "secrets-1234567", false],
    ["KEYBOARD", "english-102keys", false],
    ["HOME_PAGE", "https-something-1", false],
    ["SECRET_KEY_BASE", "0a1b2c3d4e5f6a7b", true],
    ["TOKEN_GITHUB", "0a1b2c3d4e5f6a7b", true],
    ["GITHUB_TOKEN_2", "0a1b2c3d4e5f6a7b", true],
    ["MAX_TOKENS_PER_CALL", "100000", false],
    ["TOKEN_MODE", "automatic", false],
    ["SIGNING_SECRET", "/aB3aB3aB3aB3aB3aB3+x/y=", true],
    ["SSH_KEY", "/custom/Place1/of-the-key", false],
  ])("%s=%s is one: %s", (name, value, is) => {
    expect(environmentSecrets({ [name]: value })).toEqual(is ? [value] : [])
  })

  test("from the configuration: keys, headers, passwords of addresses", () => {
    const found = configuredSecrets(
      defaultConfiguration({
        model: { apiKey: "key-12345678", baseUrl: "http://me:pass-in-url@host/v1" },
        mcp: {
          servers: {
            a: { url: "http://a", headers: { "X-Api": "Bearer header-1234567" }, env: { GH_TOKEN: "env-12345678" } },
          },
        },
      }),
    )
    expect(found).toEqual(expect.arrayContaining(["key-12345678", "pass-in-url", "header-1234567", "env-12345678"]))
  })
})
