import type { ToolDefinition } from "../model/tool.ts"
import { splitActions } from "./split-actions.ts"
import { findTool, listedFrom, type Toolset } from "./toolset.ts"

/**
 * What of a toolset only reads: tools that change nothing, and of tools with actions the reading ones, each as a tool
 * of its own (`git_status`). It follows the tools below it.
 *
 * @param besides tools that stay as they are, whatever they do
 */
export function readingTools(base: Toolset, besides: (tool: ToolDefinition) => boolean = () => false): Toolset {
  const current = listedFrom(base, (tools) =>
    tools.flatMap((tool) => (reads(tool) || besides(tool) ? [tool] : splitActions(tool).filter(reads))),
  )
  return {
    get version() {
      return base.version
    },
    list: () => [...current()],
    get: (name) => findTool(current(), name),
    withdrawn: (name) => {
      const gone = base.withdrawn(name)
      const tool = base.get(name)
      if (gone !== undefined || tool === undefined || findTool(current(), name) !== undefined) return gone
      return notOfferedReading(tool)
    },
    keptBack: (name) => base.get(name) ?? base.keptBack?.(name),
    away: () => base.away?.() ?? [],
  }
}

/** Why a tool is not offered where nothing may be changed, and what the author of one that says nothing can do. */
export function notOfferedReading({ name, effects, provenance }: ToolDefinition): string {
  const silent =
    effects === undefined && (provenance?.kind ?? "local") === "local"
      ? ": it does not say that it only reads, as 'effects: { readOnly: true }' does"
      : ""
  return `The tool '${name}' is not offered here, where nothing may be changed${silent}.`
}

function reads({ effects }: ToolDefinition): boolean {
  return effects?.readOnly === true
}
