/** An MCP server over stdio with odd tools, for tests: run as a process of its own. */
import { spawn } from "node:child_process"
import { Server } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

const [mode = "plain"] = process.argv.slice(2)
const schema = { type: "object" as const, properties: { query: { type: "string" } }, required: ["query"] }
const tools: object[] = [
  { name: "web_search", description: "Searches the web", inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: "die", description: "Ends the process", inputSchema: { type: "object" } },
  { name: "picture", description: "A picture", inputSchema: { type: "object" } },
  { name: "pid", description: "The process", inputSchema: { type: "object" } },
]
for (const name of ["slow", "large", "kill", "family"])
  if (mode === "hostile") tools.push({ name, description: name, inputSchema: { type: "object" } })
if (mode === "nameless") tools.push({ description: "nobody", inputSchema: { type: "object" } })
if (mode === "bad-schema")
  tools.push(
    { name: "bad", description: "", inputSchema: { type: "array" } },
    { name: "odd", description: "", inputSchema: { type: "object" }, outputSchema: { type: "array" } },
  )
if (mode === "noise") console.log("this is no JSON-RPC")
if (mode === "silent") setInterval(() => {}, 1000)
else {
  serveStdio(() => {
    const server = new Server({ name: "users", version: "1.0.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler(
      "tools/list",
      (request) =>
        (mode === "endless" ? { tools, nextCursor: `${Number(request.params?.cursor ?? 0) + 1}` } : { tools }) as never,
    )
    server.setRequestHandler("tools/call", async (request) => {
      const { name } = request.params
      if (name === "die") process.exit(3)
      if (name === "slow") return new Promise(() => {})
      if (name === "kill") process.kill(process.pid, "SIGKILL")
      if (name === "large") return { content: [{ type: "text", text: "x".repeat(12 * 1024 * 1024) }] }
      if (name === "family")
        return { content: [{ type: "text", text: String(spawn("sleep", ["300"], { stdio: "inherit" }).pid) }] }
      if (name === "pid") return { content: [{ type: "text", text: String(process.pid) }] }
      if (name === "picture")
        return {
          content: [
            { type: "text", text: "look" },
            { type: "image", data: "AAAA", mimeType: "image/png" },
          ],
          structuredContent: { width: 1 },
        }
      return { content: [{ type: "text", text: `found ${String(request.params.arguments?.query)}` }] }
    })
    return server
  })
}
