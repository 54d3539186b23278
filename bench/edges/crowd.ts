import { HttpMCPClient, mcpOverHttp } from "@toolwright/mcp"
import { createApp, listen } from "@toolwright/server"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { cpuOf } from "./processes.ts"
import { expectContent } from "./ways.ts"

/**
 * CPU of a call over MCP, both sides in this process, to a server of five tools and to one of five hundred, in turns.
 */
export async function crowded(): Promise<{ few: number; many: number }> {
  const start = async (count: number) => {
    const tools = new ToolRegistry()
    for (let index = 0; index < count; index++)
      tools.register(
        defineTool({
          name: `tool_${index}`,
          description: "One of many",
          parameters: { type: "object", properties: { text: { type: "string" } } },
          execute: () => "done",
        }),
      )
    const exported = mcpOverHttp({ tools })
    const server = await listen(
      createApp({ tools }, (app) => app.all("/mcp", (context) => exported.fetch(context.req.raw))),
      { port: 0, secured: false, drainMs: 200 },
    )
    const client = await HttpMCPClient.create({ name: "crowd", url: `${server.url}/mcp` })
    const context = { signal: new AbortController().signal, progress: () => {} }
    const call = async (): Promise<void> =>
      expectContent((await client.callTool("tool_3", { text: "x" }, context)).success)
    return {
      call,
      samples: [] as number[],
      close: async () => {
        await client.close()
        await server.close()
      },
    }
  }
  const sides = [await start(5), await start(500)]
  for (const { call } of sides) for (let index = 0; index < 300; index++) await call()
  for (let round = 0; round < 7; round++) {
    for (const { call, samples } of sides) {
      const before = cpuOf([])
      for (let index = 0; index < 200; index++) await call()
      samples.push((cpuOf([]) - before) / 200)
    }
  }
  const [few, many] = sides.map(({ samples }) => samples.toSorted((a, b) => a - b)[3]!)
  for (const { close } of sides) await close()
  return { few: few!, many: many! }
}
