import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { mcpOverHttp, StdioMCPClient } from "@toolwright/mcp"
import { attachSource, ToolRegistry, validate, type JsonSchema } from "@toolwright/toolbox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createApp, listen, openApiDocument, type RunningServer } from "./index.ts"

/** Installed by `npm run bench -- files`; where it is not, there is nothing to import. */
const PROGRAM = join(
  import.meta.dirname,
  "../../../bench/.peers/files/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
)

describe.skipIf(!existsSync(PROGRAM))("the official filesystem server, imported and served again", () => {
  let folder: string
  let imported: StdioMCPClient
  let server: RunningServer
  const registry = new ToolRegistry()
  const [direct, through] = [
    new Client({ name: "direct", version: "1" }),
    new Client({ name: "through", version: "1" }),
  ]

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "official-")))
    writeFileSync(join(folder, "a.txt"), "one\ntwo\n")
    const command = { command: process.execPath, args: [PROGRAM, folder] }
    imported = await StdioMCPClient.create({ name: "files", ...command, connectTimeoutMs: 120_000 })
    await attachSource(registry, imported)
    const exported = mcpOverHttp({ tools: registry })
    server = await listen(
      createApp({ tools: registry }, (app) => app.all("/mcp", (context) => exported.fetch(context.req.raw))),
      { port: 0, secured: false, drainMs: 500 },
    )
    await direct.connect(new StdioClientTransport({ ...command, stderr: "ignore" }))
    await through.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)))
  })
  afterAll(async () => {
    await Promise.all([direct.close(), through.close(), imported.close(), server.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  test("has its fourteen tools with their annotations", async () => {
    const [own, again] = [(await direct.listTools()).tools, (await through.listTools()).tools]
    expect(own).toHaveLength(14)
    expect(again.map(({ name }) => name)).toEqual(own.map(({ name }) => name))
    for (const [index, tool] of own.entries()) {
      expect(again[index]).toMatchObject({
        description: tool.description,
        title: tool.title,
        annotations: tool.annotations ?? {},
      })
    }
  })

  test("judges generated arguments as the original does, on every surface", async () => {
    const { tools } = await direct.listTools()
    const listed = new Map((await through.listTools()).tools.map((tool) => [tool.name, tool.inputSchema as JsonSchema]))
    const { paths } = openApiDocument(registry.list(), { url: server.url, secured: false }) as {
      paths: Record<string, { post: { requestBody?: { content: { "application/json": { schema: JsonSchema } } } } }>
    }
    const verdicts = { true: 0, false: 0 }
    for (const { name, inputSchema } of tools) {
      const ours = [
        registry.get(name)!.parameters,
        listed.get(name)!,
        paths[`/tools/${name}`]?.post.requestBody?.content["application/json"].schema ?? { type: "object" },
      ]
      await fc.assert(
        fc.asyncProperty(argumentsOf(inputSchema as JsonSchema), async (args) => {
          const verdict = (await validate(inputSchema as JsonSchema, args)).length === 0
          verdicts[`${verdict}`]++
          for (const schema of ours) expect((await validate(schema, args)).length === 0).toBe(verdict)
        }),
        { numRuns: 60, seed: 7 },
      )
    }
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(100)
  })

  test("answers as the original does", async () => {
    for (const call of [
      { name: "read_text_file", arguments: { path: join(folder, "a.txt") } },
      { name: "list_directory", arguments: { path: folder } },
      { name: "list_allowed_directories", arguments: {} },
      { name: "read_text_file", arguments: { path: "/etc/passwd" } },
    ]) {
      const [one, other] = [await direct.callTool(call), await through.callTool(call)]
      expect([other.content, other.structuredContent, other.isError ?? false]).toEqual([
        one.content,
        one.structuredContent,
        one.isError ?? false,
      ])
    }
  })
})

/** Arguments that are right for a schema, or nearly so: properties left out, of a wrong type, or unknown. */
function argumentsOf(schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, property]) =>
      [
        name,
        fc.option(
          fc.oneof(
            { arbitrary: valueOf(property as JsonSchema), weight: 6 },
            { arbitrary: fc.jsonValue({ maxDepth: 1 }), weight: 1 },
          ),
          { nil: undefined, freq: 8 },
        ),
      ] as const,
  )
  const known = fc.record(Object.fromEntries(properties))
  return fc
    .tuple(known, fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }), { nil: {} }))
    .map(([args, more]) => JSON.parse(JSON.stringify({ ...more, ...args })) as Record<string, unknown>)
}

function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as unknown[]))
  switch (schema.type) {
    case "string":
      return fc.string()
    case "number":
      return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    case "boolean":
      return fc.boolean()
    case "array":
      return fc.array(valueOf((schema.items ?? {}) as JsonSchema), { maxLength: 3 })
    case "object":
      return argumentsOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}
