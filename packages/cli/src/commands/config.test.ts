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
