import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createApp, listen } from "@toolwright/server"
import { sampleCall, ToolRegistry } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import openapiTypescript, { astToString } from "openapi-typescript"
import { afterAll, expect, test } from "vitest"
import { openApiDocument } from "../../packages/server/src/openapi/document.ts"

const folder = mkdtempSync(join(tmpdir(), "openapi-client-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tools = new ToolRegistry()
for (const tool of createBuiltinTools({ roots: [{ path: folder, access: "read-only" }] })) tools.register(tool)
const url = "http://localhost:8001"

test("the OpenAPI document gives a client whose types compile, and calls of every tool that the server takes", async () => {
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
  writeFileSync(join(folder, "wrong.ts"), wrong)
  // What is right and what is wrong at once: one run of the compiler tells them apart by their files.
  const errors = compile(["client.ts", "wrong.ts"]).match(/^.*error TS.*$/gm) ?? []
  expect(errors).toEqual([expect.stringMatching(/^wrong\.ts\(2,/), expect.stringMatching(/^wrong\.ts\(3,/)])

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
    "--skipLibCheck",
    "--target",
    "es2024",
    "--module",
    "nodenext",
    "--allowImportingTsExtensions",
    "--lib",
    "es2024,dom",
  ]
  const args = [compiler, ...flags, ...files.map((name) => join(folder, name))]
  try {
    return execFileSync(process.execPath, args, { encoding: "utf8", cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
  } catch (thrown) {
    return String((thrown as { stdout?: string }).stdout ?? "")
  }
}
