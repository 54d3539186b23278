import { artifactGuidance, type ToolDefinition } from "@toolwright/toolbox"

/**
 * After a round: which artifacts there are and which tools could go on from them. Nothing where no tool deals in
 * artifacts.
 */
export function artifactNote(tools: readonly ToolDefinition[], artifacts: ReadonlySet<string>): string | undefined {
  const { ready, waiting } = artifactGuidance(tools, artifacts)
  if (artifacts.size === 0 || (ready.length === 0 && waiting.length === 0)) return undefined
  const lines = [`Artifacts so far: ${[...artifacts].join(", ")}.`]
  if (ready.length > 0) lines.push(`Tools whose inputs are there: ${ready.map(({ name }) => name).join(", ")}.`)
  for (const { tool, missing } of waiting) lines.push(`${tool.name} still needs: ${missing.join(", ")}.`)
  return lines.join("\n")
}
