import { detectCapabilities, ToolRegistry, type ToolDefinition } from "@toolwright/toolbox"
import { systemProbe } from "./capabilities.ts"

/** A registry, and which of its tools cannot run here. */
export interface RegisteredTools {
  registry: ToolRegistry
  unavailable: { name: string; reason: string }[]
}

/**
 * Registers tools, and finds out which of them lack something here.
 *
 * @throws ToolwrightError `DUPLICATE_TOOL`, `INVALID_TOOL`
 */
export async function registered(
  tools: readonly ToolDefinition[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<RegisteredTools> {
  const registry = new ToolRegistry()
  for (const tool of tools) registry.register(tool)
  const report = await detectCapabilities(registry.list(), systemProbe(env))
  const unavailable = report.unavailable.map(({ tool, missing }) => ({
    name: tool.name,
    reason: missing.map(({ detail }) => detail).join("; "),
  }))
  return { registry, unavailable }
}
