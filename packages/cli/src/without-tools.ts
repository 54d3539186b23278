import type { WorkspaceRecords } from "@toolwright/runtime/records"
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
): Promise<WorkspaceRecords> {
  const [{ recordsUnder }, { configuration }] = await Promise.all([
    import("@toolwright/runtime/records"),
    configurationFor(invocation, values),
  ])
  const { cwd, env, stderr } = invocation
  return recordsUnder(configuration, {
    cwd,
    env,
    log: (line) => void stderr.write(`${neutralise(line)}\n`),
  })
}
