import type { Toolwright } from "@toolwright/runtime"
import type { Invocation } from "./command.ts"
import { neutralise } from "./render/neutralise.ts"
import { configurationFor } from "./settings-options.ts"

/**
 * What a command reads records with: they lie where the tools' workspace is, and need neither tools, ours or a
 * server's, nor a model. What it has to say goes to the error output.
 */
export async function withoutTools(
  invocation: Invocation,
  values: Parameters<typeof configurationFor>[1],
): Promise<Toolwright> {
  const [{ createToolwright }, { configuration }] = await Promise.all([
    import("@toolwright/runtime"),
    configurationFor(invocation, values),
  ])
  const { cwd, env, stderr } = invocation
  const log = (line: string): void => void stderr.write(`${neutralise(line)}\n`)
  return createToolwright({ ...configuration, mcp: {}, tools: [], withBuiltins: false, cwd, env, log })
}
