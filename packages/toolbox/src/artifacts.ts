import type { ToolDefinition } from "./model/tool.ts"

/** What the artifacts at hand mean for the tools: which could go next, and which lack an input. */
export interface ArtifactGuidance {
  /** Tools whose inputs are all there and which would produce something new. */
  ready: ToolDefinition[]
  /** Tools that lack inputs, with the missing artifacts' names. */
  waiting: { tool: ToolDefinition; missing: string[] }[]
}

/** Sorts the tools that produce or consume artifacts by what is available. */
export function artifactGuidance(tools: readonly ToolDefinition[], available: ReadonlySet<string>): ArtifactGuidance {
  const guidance: ArtifactGuidance = { ready: [], waiting: [] }
  for (const tool of tools) {
    if ((tool.consumes?.length ?? 0) === 0 && (tool.produces?.length ?? 0) === 0) continue
    const missing = (tool.consumes ?? []).filter((name) => !available.has(name))
    if (missing.length > 0) guidance.waiting.push({ tool, missing })
    else if ((tool.produces ?? []).some((name) => !available.has(name))) guidance.ready.push(tool)
  }
  return guidance
}
