/**
 * Our importer as the conformance suite drives it: it connects to the address given last, lists, and calls every tool
 * with sample arguments.
 */
import { HttpMCPClient } from "@toolwright/mcp"
import { attachSource, sampleCall, ToolRegistry } from "@toolwright/toolbox"

const client = await HttpMCPClient.create({ name: "suite", url: process.argv.at(-1)! })
const registry = new ToolRegistry()
const attached = await attachSource(registry, client)
for (const tool of registry.list()) await registry.execute(tool.name, sampleCall(tool))
await attached.close()
