import { createToolwright, type RunOptions, type ToolwrightOptions } from "@toolwright/runtime"
import { wrapBackend, type Backend } from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import { checkStubs } from "../tools/stubbed.ts"
import { assertThere } from "../workspace/snapshot.ts"
import type { TestWorkspace } from "../workspace/workspace.ts"
import type { AgentRun } from "./agent-run.ts"
import { followRun, type FollowRunOptions } from "./follow-run.ts"

/** A task, the model that works on it, and everything that `createToolwright` takes. */
export interface AgentTest
  extends
    Omit<ToolwrightOptions, "backend" | "workspace" | "agent">,
    Pick<RunOptions, "signal" | "history" | "systemPrompt" | "dryRun">,
    Pick<FollowRunOptions, "more" | "timeoutMs"> {
  task: string
  /**
   * `scripted(…)`, `await recording(…)`, `await pocket()`, or any other. It is closed at the end, unless there is
   * `more`.
   */
  backend: Backend
  /** A folder of `workspace(…)`: the built-in tools work in it, and the run tells what changed. */
  workspace?: TestWorkspace
  /** Name of a profile, or one of your own; `assistant` unless given. */
  agent?: RunOptions["agent"]
}

/**
 * Runs a task to its end and gives what a test wants to look at. Runs are not recorded unless `record: true`.
 *
 * A run that goes wrong does not throw: look at `outcome` and `error`.
 *
 * @throws ToolwrightError what a strict model has to say (see `scripted` and `recording`), `RUN_TIMEOUT` for a run that
 *   does not end, and what `createToolwright` throws
 * @example
 * const run = await runAgent({ task: "Will it rain in Oslo?", backend: scripted([…]), tools: [getWeather] })
 * assert.deepEqual(callsOf(run), [{ call: "get_weather", arguments: { city: "Oslo" } }])
 * assert.equal(run.text, "Take a coat.")
 */
export async function runAgent(test: AgentTest): Promise<AgentRun> {
  const { task, backend, agent, signal, history, systemPrompt, dryRun, more, timeoutMs, workspace, ...options } = test
  if (workspace !== undefined && typeof workspace.path !== "string") {
    throw new ToolwrightError(
      "WORKSPACE_INVALID",
      "The 'workspace' of runAgent is what workspace(…) gives, neither a path nor settings.",
      {
        hint: "For a folder of your own, give its settings to createToolwright, and follow the run with followRun.",
      },
    )
  }
  await using toolwright = await createToolwright({
    record: false,
    ...(workspace === undefined ? {} : { workspace: { roots: workspace.roots }, cwd: workspace.path }),
    ...options,
    backend: more === true ? keptOpen(backend) : backend,
  }).catch((thrown: unknown) => {
    if (workspace !== undefined) assertThere(workspace.path)
    throw thrown
  })
  const runOptions: RunOptions = {
    ...(agent === undefined ? {} : { agent }),
    ...(history === undefined ? {} : { history }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(dryRun === undefined ? {} : { dryRun }),
  }
  const start = (timeout: AbortSignal) =>
    toolwright.run(task, { ...runOptions, signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) })
  const run = await followRun(start, {
    backend,
    ...(more === undefined ? {} : { more }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(workspace === undefined ? {} : { workspace }),
  })
  checkStubs((options.tools ?? []).filter((tool) => typeof tool !== "string"))
  return run
}

/** The same backend, which stays open for other runs when this one is over. */
function keptOpen(backend: Backend): Backend {
  const { close: _close, ...open } = wrapBackend(backend, {})
  return open
}
