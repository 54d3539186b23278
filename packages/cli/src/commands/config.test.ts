import { expect, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const FILE = "model:\n  name: from-file\n  baseUrl: http://me:secret-pass@localhost:8080/v1\nagent:\n  maxRounds: 5\n"

test("flags go before variables, variables before the file, and each value tells its source; secrets are masked", async () => {
  const cwd = folderWith({ "toolwright.yaml": FILE, "sub/x": "" })
  const env = {
    TOOLWRIGHT_MODEL: "from-env",
    TOOLWRIGHT_API_KEY: "sk-1234567890abcdef",
    TOOLWRIGHT_MAX_ROUNDS: "7",
    TOOLWRIGHT_TRUST: "1",
  }
  const { code, stdout } = await here(["config", "--max-rounds", "9", "--json"], { cwd: `${cwd}/sub`, env })
  expect(code).toBe(0)
  const { file, settings } = JSON.parse(stdout) as {
    file: string
    settings: Record<string, { value: unknown; source: string }>
  }
  expect(file).toContain("toolwright.yaml")
  expect(settings["agent.maxRounds"]).toEqual({ value: 9, source: "flag --max-rounds" })
  expect(settings["model.name"]).toEqual({ value: "from-env", source: "environment TOOLWRIGHT_MODEL" })
  expect(settings["model.baseUrl"]).toEqual({
    value: "http://••••@localhost:8080/v1",
    source: expect.stringMatching(/^file /),
  })
  expect(settings["model.apiKey"]?.value).toBe("••••cdef")
  expect(settings["model.toolCalling"]).toEqual({ value: "hybrid", source: "default" })
  const table = await here(["config"], { cwd, env })
  expect(table.stdout).toMatch(/^model\.name +from-env +environment TOOLWRIGHT_MODEL$/m)
  expect(table.stdout, "the file is named once").toMatch(/^# \/.*toolwright\.yaml$[^]*^model\.baseUrl +\S+ +file$/m)
  expect(table.stdout + stdout).not.toMatch(/secret-pass|1234567890/)
})

test("the built-in model is shown where no other is configured, and only there", async () => {
  const row = /^model\.backend +pocket +default, as no model is configured$/m
  expect((await here(["config"], { cwd: folderWith() })).stdout).toMatch(row)
  expect((await here(["config", "--trust"], { cwd: folderWith({ "toolwright.yaml": FILE }) })).stdout).not.toContain(
    "pocket",
  )
})

test("mistakes are told with their line and the right word", async () => {
  const cwd = folderWith({ "toolwright.yaml": "agent:\n  maxRouns: 5\n" })
  const { code, stderr } = await here(["config"], { cwd })
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/line 2: [^]*'agent\.maxRounds'/) })
  expect(await here(["config", "--max-rounds", "many"], { cwd: folderWith() })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("must be a number"),
  })
})

test("the schema is there for editors", async () => {
  const schema = JSON.parse((await here(["config", "--schema"])).stdout) as { properties: object }
  expect(Object.keys(schema.properties)).toContain("model")
})

const SERVERS = `
mcp:
  servers:
    far:
      url: https://me:hunt-er22@mcp.example/x?api_key=query-value-1
      headers: { X-Key: header-value-2, Authorization: Bearer bearer-value-3, X-Told: "\${TOLD}" }
    near:
      command: server
      args: [--api-key, args-value-4, --token=joined-value-5, --verbose]
      env: { PLAIN: env-value-6, OTHER: "\${OTHER}" }
  connect: ["own=npx server --api-key behind-value-7 --say ghp_${"aB3".repeat(12)}"]
sources:
  rest:
    own: { url: http://127.0.0.1:9/, token: rest-value-8, tokenEnv: NAME_OF_IT }
builtins:
  databases: { main: { url: postgres://me:hunt-er99@db.example/x } }
`

test("what servers are sent and started with is masked, in a table and as JSON; names of variables are told", async () => {
  const cwd = folderWith({ "toolwright.yaml": SERVERS })
  const env = { TOOLWRIGHT_TRUST: "1", MY_TOKEN: "env-value-6-of-mine" }
  const [json, table] = [await here(["config", "--json"], { cwd, env }), await here(["config"], { cwd, env })]
  expect([json.code, table.code]).toEqual([0, 0])
  expect(json.stdout + table.stdout).not.toMatch(/-value-\d(?!\d)|hunt-er|aB3/)
  const { settings } = JSON.parse(json.stdout) as { settings: Record<string, { value: unknown }> }
  expect(settings["mcp.servers"]?.value).toMatchObject({
    far: {
      url: "https://••••@mcp.example/x?api_key=[secret]",
      headers: { "X-Key": "••••ue-2", Authorization: "Bearer ••••ue-3", "X-Told": "${TOLD}" },
    },
    near: {
      command: "server",
      args: ["--api-key", "••••", "--token=••••ue-5", "--verbose"],
      env: { PLAIN: "••••", OTHER: "${OTHER}" },
    },
  })
  expect(settings["mcp.connect"]?.value).toEqual(["own=npx server --api-key ••••ue-7 --say [secret]"])
  expect(settings["sources.rest"]?.value).toMatchObject({ own: { token: "••••", tokenEnv: "NAME_OF_IT" } })
})
