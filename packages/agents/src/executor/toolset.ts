import { type ToolDefinition, type Toolset } from "@toolwright/toolbox"
import type { ResultStore } from "./result-store.ts"

/** The tools of a run: those on offer, and, once a result was cut, the one that reads on in it. */
export function toolsWithResults(base: Toolset, results: ResultStore): Toolset {
  const own = (): ToolDefinition[] =>
    results.isEmpty || base.get(results.tool.name) !== undefined ? [] : [results.tool]
  return {
    get version() {
      return base.version + (results.isEmpty ? 0 : 1)
    },
    list: () => [...base.list(), ...own()],
    get: (name) => base.get(name) ?? own().find((tool) => tool.name === name),
    withdrawn: (name) => base.withdrawn(name),
    keptBack: (name) => base.keptBack?.(name),
    away: () => base.away?.() ?? [],
  }
}

/** What a plain question is asked with. */
export const NO_TOOLS: Toolset = { version: 0, list: () => [], get: () => undefined, withdrawn: () => undefined }
