import type { Toolwright, ToolwrightOptions } from "@toolwright/runtime"
import type { Invocation } from "./command.ts"
import { canAsk } from "./paired-run.ts"
import { neutralise } from "./render/neutralise.ts"

/** What a command goes on with a run by: with the built-in tools, and asking on the terminal where there is one. */
export async function goingOn(invocation: Invocation, configuration: ToolwrightOptions): Promise<Toolwright> {
  const { createToolwright } = await import("@toolwright/runtime")
  const { cwd, env, stderr } = invocation
  const log = (line: string): void => void stderr.write(`${neutralise(line)}\n`)
  const made = { ...configuration, withBuiltins: true, cwd, env, log }
  if (!canAsk(invocation)) return createToolwright(made)
  const { approveOnTerminal } = await import("./approve.ts")
  return createToolwright({ ...made, approve: approveOnTerminal(invocation, () => undefined) })
}
