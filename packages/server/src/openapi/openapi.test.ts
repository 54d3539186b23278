import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Validator } from "@seriousme/openapi-schema-validator"
import { ToolRegistry } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { afterAll, describe, expect, test } from "vitest"
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
        "extends: [recommended]\nrules: { info-license: off, no-server-example.com: off, " +
          "operation-4xx-response: error }\n",
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
})

/** What a program prints; some end with an error code when they have found something. */
function run(name: string, args: string[]): string {
  try {
    return execFileSync(join(LINTERS, name), args, {
      encoding: "utf8",
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, REDOCLY_TELEMETRY: "off", PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
    })
  } catch (thrown) {
    return String((thrown as { stdout?: string }).stdout ?? "")
  }
}
