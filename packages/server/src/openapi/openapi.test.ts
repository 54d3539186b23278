import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Validator } from "@seriousme/openapi-schema-validator"
import openapiTypescript, { astToString } from "openapi-typescript"
import { sampleCall, ToolRegistry } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { afterAll, describe, expect, test } from "vitest"
import { createApp, listen } from "../index.ts"
import { openApiDocument } from "./document.ts"

const folder = mkdtempSync(join(tmpdir(), "openapi-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tools = new ToolRegistry()
for (const tool of createBuiltinTools({ roots: [{ path: folder, access: "read-only" }] })) tools.register(tool)
const url = "http://localhost:8001"
const file = join(folder, "openapi.json")
writeFileSync(file, JSON.stringify(openApiDocument(tools.list(), { url, secured: true })))

/**
 * Two linters of hundreds of packages, installed by `npm run bench -- openapi`; where they are not, only the schema is
 * checked.
 */
const LINTERS = join(import.meta.dirname, "../../../../bench/.peers/openapi/node_modules/.bin")
const hasLinters = existsSync(join(LINTERS, "redocly"))

describe("the OpenAPI document of all built-in tools", () => {
  test.each([true, false])("is valid 3.1, with tokens: %s", async (secured) => {
    const document = openApiDocument(tools.list(), { url, secured })
    expect(await new Validator().validate(document)).toEqual({ valid: true })
  })

  test("has one concrete path and one fitting operation id for each tool, and no reference but to its own problem", () => {
    const document = openApiDocument(tools.list(), { url, secured: false }) as {
      paths: Record<string, { post: { operationId: string } }>
    }
    const ids = Object.values(document.paths).map(({ post }) => post.operationId)
    expect(ids).toEqual(tools.list().map(({ name }) => name))
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(new Set(JSON.stringify(document).match(/"\$ref":"[^"]+"/g))).toEqual(
      new Set(['"$ref":"#/components/schemas/Problem"']),
    )
    expect(Object.keys(document.paths).filter((path) => path.includes("{"))).toEqual([])
  })

  test.skipIf(!hasLinters)(
    "has no error by Redocly",
    () => {
      const config = join(folder, "redocly.yaml")
      writeFileSync(
        config,
        "extends: [recommended]\nrules: { info-license: off, no-server-example.com: off, operation-4xx-response: error }\n",
      )
      const report = run("redocly", ["lint", "--config", config, "--format", "json", file])
      expect((JSON.parse(report) as { totals: { errors: number } }).totals.errors).toBe(0)
    },
    120_000,
  )

  test.skipIf(!hasLinters)(
    "has no error by Spectral",
    () => {
      const rules = join(folder, "spectral.yaml")
      writeFileSync(rules, "extends: ['spectral:oas']\n")
      const report = JSON.parse(
        run("spectral", ["lint", "--ruleset", rules, "--format", "json", "--quiet", file]) || "[]",
      ) as { severity: number; message: string }[]
      expect(report.filter(({ severity }) => severity === 0)).toEqual([])
    },
    120_000,
  )

  test("gives a client whose types compile, and calls of every tool that the server takes", async () => {
    writeFileSync(
      join(folder, "api.ts"),
      astToString(
        await openapiTypescript(
          JSON.parse(JSON.stringify(openApiDocument(tools.list(), { url, secured: false }))) as never,
        ),
      ),
    )
    const calls = tools.list().map((tool) => [tool.name, sampleCall(tool)] as const)
    const typed = calls.map(([name, args]) => `await call(${JSON.stringify(name)}, ${JSON.stringify(args)})`).join("\n")
    writeFileSync(join(folder, "package.json"), `{"type":"module"}`)
    writeFileSync(join(folder, "client.ts"), `${CLIENT}\nexport async function all() {\n${typed}\n}\n`)
    const wrong = 'import { call } from "./client.ts"\nawait call("echo", { message: 5 })\nawait call("ecko", {})\n'
    expect(compile(["client.ts"])).toBe("")
    writeFileSync(join(folder, "wrong.ts"), wrong)
    expect(compile(["wrong.ts"]).match(/error TS/g)).toHaveLength(2)

    await using server = await listen(
      createApp({
        tools,
        middleware: [
          async (call) => ({
            success: true,
            output: call.tool.name,
            data: undefined,
            modifiedFiles: [],
            metadata: {},
            executionTimeMs: 0,
          }),
        ],
      }),
      { port: 0, secured: false },
    )
    for (const [name, args] of calls) {
      const response = await fetch(`${server.url}/tools/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(args),
      })
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ success: true, result: name }),
      ])
    }
  })
})

/** As thin as a client over generated types can be. */
const CLIENT = `import type { operations } from "./api.ts"
type Arguments<Name extends keyof operations> = operations[Name] extends { requestBody?: { content: { "application/json": infer Body } } } ? Body : Record<string, never>
type Answer<Name extends keyof operations> = operations[Name]["responses"][200]["content"]["application/json"]
export async function call<Name extends keyof operations>(name: Name, args: Arguments<Name>): Promise<Answer<Name>> {
  const response = await fetch("/tools/" + name, { method: "POST", body: JSON.stringify(args) })
  return (await response.json()) as Answer<Name>
}`

function compile(files: string[]): string {
  const require = createRequire(createRequire(import.meta.url).resolve("openapi-typescript"))
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin/tsc")
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2024",
    "--module",
    "nodenext",
    "--allowImportingTsExtensions",
    "--lib",
    "es2024,dom",
  ]
  return run(process.execPath, [compiler, ...flags, ...files.map((name) => join(folder, name))], true)
}

/** What a program prints; some end with an error code when they have found something. */
function run(name: string, args: string[], absolute = false): string {
  try {
    return execFileSync(absolute ? name : join(LINTERS, name), args, {
      encoding: "utf8",
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, REDOCLY_TELEMETRY: "off", PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
    })
  } catch (thrown) {
    return String((thrown as { stdout?: string }).stdout ?? "")
  }
}
