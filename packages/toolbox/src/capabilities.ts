import type { ToolDefinition } from "./model/tool.ts"

/** Finds out whether something that tools need is there. `detail` says what is missing and how to supply it. */
export type CapabilityProbe = (capability: string) => Promise<CapabilityState> | CapabilityState

export interface CapabilityState {
  available: boolean
  detail?: string
}

/** Which tools can run here, and why the others cannot. */
export interface CapabilityReport {
  available: ToolDefinition[]
  unavailable: { tool: ToolDefinition; missing: { capability: string; detail: string }[] }[]
}

/**
 * Sorts tools by whether what they need is there. Each capability is probed once; a probe that throws counts as absent.
 *
 * @param probe answers for one capability: by convention `env:NAME` is an environment variable and a bare name a
 *   program
 */
export async function detectCapabilities(
  tools: readonly ToolDefinition[],
  probe: CapabilityProbe,
): Promise<CapabilityReport> {
  const names = [...new Set(tools.flatMap((tool) => tool.capabilities ?? []))]
  const states = new Map(await Promise.all(names.map(async (name) => [name, await probed(probe, name)] as const)))
  const report: CapabilityReport = { available: [], unavailable: [] }
  for (const tool of tools) {
    const missing = (tool.capabilities ?? [])
      .filter((name) => !states.get(name)!.available)
      .map((name) => ({ capability: name, detail: states.get(name)!.detail ?? `'${name}' is not available.` }))
    if (missing.length === 0) report.available.push(tool)
    else report.unavailable.push({ tool, missing })
  }
  return report
}

async function probed(probe: CapabilityProbe, name: string): Promise<CapabilityState> {
  try {
    return await probe(name)
  } catch (thrown) {
    return { available: false, detail: `'${name}' could not be checked: ${String(thrown)}` }
  }
}
