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
  return { registry, unavailable: await unavailableOf(registry.list(), env) }
}

/** Which of some tools lack something here, and what. */
export async function unavailableOf(
  tools: readonly ToolDefinition[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ name: string; reason: string }[]> {
  const report = await detectCapabilities(tools, systemProbe(env))
  return report.unavailable.map(({ tool, missing }) => ({
    name: tool.name,
    reason: missing.map(({ detail }) => detail).join("; "),
  }))
}
