import type { ToolDefinition } from "../model/tool.ts"

/** The tools that somebody is offered: a whole registry, or a view of it. Order is the order of registration. */
export interface Toolset {
  /** Changes whenever the set of tools does, so that prompts and grammars derived from it can be kept until then. */
  readonly version: number
  list(): ToolDefinition[]
  /** The tool of this name or alias. */
  get(name: string): ToolDefinition | undefined
  /** Why a name that was once offered no longer is, if that is so. */
  withdrawn(name: string): string | undefined
  /** A tool of this name that is there and kept back, by which others are found that do the same. */
  keptBack?(name: string): ToolDefinition | undefined
  /** Sources that do not answer now, each with why: nobody knows which tools they have. */
  away?(): readonly string[]
}

/** Finds a tool by name, then by alias. */
export function findTool(tools: Iterable<ToolDefinition>, name: string): ToolDefinition | undefined {
  let aliased: ToolDefinition | undefined
  for (const tool of tools) {
    if (tool.name === name) return tool
    if (aliased === undefined && tool.aliases?.names?.includes(name)) aliased = tool
  }
  return aliased
}

/** What is made of another toolset's tools: made anew only when they have changed. */
export function listedFrom(base: Toolset, make: (tools: ToolDefinition[]) => ToolDefinition[]): () => ToolDefinition[] {
  let seen = -1
  let tools: ToolDefinition[] = []
  return () => {
    if (seen !== base.version) {
      tools = make(base.list())
      seen = base.version
    }
    return tools
  }
}
