import { failure, type ToolContext, type ToolDefinition, type ToolResult } from "@toolwright/toolbox"

/**
 * What the tools of one run have made so far, by name, so that a model need not repeat a whole post to hand it on; or
 * those that one caller of a server called without a run. A call that belongs to neither leaves nothing behind. Kept in
 * memory; the oldest runs are forgotten.
 */
export interface ArtifactStore {
  get(run: RunOf, name: string): unknown
  set(run: RunOf, name: string, value: unknown): void
}

export type RunOf = Pick<ToolContext, "runId" | "caller">

const MAX_RUNS = 50
const MAX_RESEARCH = 50

export function createArtifactStore(): ArtifactStore {
  const runs = new Map<string, Map<string, unknown>>()
  const of = ({ runId, caller }: RunOf) => {
    if (runId === undefined && caller === undefined) return new Map<string, unknown>()
    const owner = runId === undefined ? `caller ${caller}` : `run ${runId}`
    const artifacts = runs.get(owner) ?? new Map<string, unknown>()
    runs.delete(owner)
    runs.set(owner, artifacts)
    if (runs.size > MAX_RUNS) runs.delete(runs.keys().next().value as string)
    return artifacts
  }
  return {
    get: (run, name) => of(run).get(name),
    set: (run, name, value) => void of(run).set(name, value),
  }
}

/** One piece of research: which tool found it, and the text that it gave. */
export interface Finding {
  tool: string
  text: string
}

/** A tool that produces research, made to remember its results as findings of the run; any other tool as it is. */
export function rememberResearch(tool: ToolDefinition, artifacts: ArtifactStore): ToolDefinition {
  if (tool.produces?.includes("research") !== true) return tool
  return {
    ...tool,
    async handler(args, context) {
      const result = await tool.handler(args, context)
      if (result.success && result.modifiedFiles.length === 0) {
        const found = (artifacts.get(context, "research") as Finding[] | undefined) ?? []
        artifacts.set(context, "research", [...found, { tool: tool.name, text: result.output }].slice(-MAX_RESEARCH))
      }
      return result
    },
  }
}

/** The failure of a tool that lacks an input, naming the artifact and the way to it. */
export function missingArtifact(name: string, wanted: string, way: string): ToolResult {
  return failure({
    code: "MISSING_ARTIFACT",
    message: `${wanted} needs the artifact '${name}', which does not exist yet.`,
    hint: way,
    details: { artifact: name },
  })
}
