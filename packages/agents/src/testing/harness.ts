import { createScriptedBackend, type ScriptedBackend, type ScriptedOptions } from "@toolwright/backends"
import {
  defineTool,
  success,
  failure,
  ToolRegistry,
  type RunEvent,
  type RunSummary,
  type ToolDefinition,
} from "@toolwright/toolbox"
import { DynamicExecutor } from "../executor/executor.ts"
import type { ExecutorOptions, RunRequest } from "../executor/options.ts"

type Screenplay = Parameters<typeof createScriptedBackend>[0]
export type Steps = Screenplay["steps"]

/** A run of an executor on a screenplay, with everything that a test wants to look at afterwards. */
export interface PlayedRun {
  events: RunEvent[]
  summary: RunSummary
  backend: ScriptedBackend
}

export async function play(
  steps: Steps,
  tools: readonly ToolDefinition[] | ToolRegistry,
  options: Partial<ExecutorOptions> & { scripted?: ScriptedOptions; request?: Partial<RunRequest> } = {},
): Promise<PlayedRun> {
  const { scripted, request, ...executorOptions } = options
  const backend = createScriptedBackend(
    { steps },
    { abilities: { nativeTools: true, grammar: false, jsonSchema: false }, ...scripted },
  )
  const executor = new DynamicExecutor({
    tools: tools instanceof ToolRegistry ? tools : registryOf(...tools),
    backend,
    ...executorOptions,
  })
  const events: RunEvent[] = []
  for await (const event of executor.run({ task: "Do it", ...request })) events.push(event)
  const end = events.at(-1)
  if (end?.type !== "run-end") throw new Error("the last event is not run-end")
  return { events, summary: end.summary, backend }
}

export function registryOf(...tools: readonly ToolDefinition[]): ToolRegistry {
  const registry = new ToolRegistry()
  for (const tool of tools) registry.register(tool)
  return registry
}

/** A tool that answers with its arguments and says that it changes nothing. */
export const echo = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  ...defineTool({
    name,
    description: `The tool ${name}`,
    parameters: { type: "object", properties: { text: { type: "string" } } },
    effects: { readOnly: true },
    execute: (args) => success({ output: JSON.stringify(args), data: args }),
  }),
  ...more,
})

/** A small piece of work: a file to write, a check that fails until the file is right, and a way to hand it in. */
export function workshop() {
  const state = { content: "", commits: [] as string[] }
  const tools = [
    defineTool({
      name: "file",
      description: "Writes the file",
      category: "code",
      parameters: { type: "object", properties: { content: { type: "string" } }, required: ["content"] },
      effects: { writes: ["path"] },
      execute: ({ content }) => {
        state.content = String(content)
        return success({ output: "written", modifiedFiles: ["a.txt"] })
      },
    }),
    defineTool({
      name: "test",
      description: "Checks the file",
      role: "validates",
      category: "build",
      parameters: { type: "object" },
      execute: () =>
        state.content === "right"
          ? success({ output: "1 passed" })
          : failure({ code: "TESTS_FAILED", message: `'${state.content}' is not right` }),
    }),
    defineTool({
      name: "git",
      description: "Commits",
      role: "commits",
      category: "vcs",
      parameters: { type: "object", properties: { action: { type: "string" }, message: { type: "string" } } },
      execute: ({ message }) => {
        state.commits.push(String(message))
        return success({ output: "committed" })
      },
    }),
  ]
  return { state, tools }
}

export const call = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args })
export const calls = (...list: { name: string; arguments: Record<string, unknown> }[]) => ({ reply: { calls: list } })
