import type { ToolwrightOptions } from "@toolwright/runtime"
import { loadConfiguration, SETTINGS } from "@toolwright/runtime/configuration"
import { withPaths, type SuiteModel } from "@toolwright/runtime/evals"
import type { Invocation } from "../command.ts"
import { neutralise } from "../render/neutralise.ts"
import { configurationInputs } from "../settings-options.ts"

/**
 * The settings of a suite's model: as if its own had been given as options, so that keys go where they belong, and
 * nowhere else.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`
 */
export async function settingsOf(
  invocation: Invocation,
  values: Readonly<Record<string, unknown>>,
  { model, folder }: { model: SuiteModel; folder: string },
): Promise<ToolwrightOptions> {
  const { id: _id, ...settings } = model
  const own = Object.entries(withPaths(settings, folder)).map(([key, value]) => [
    SETTINGS.find((setting) => setting.key === `model.${key}`)!.flag!,
    typeof value === "boolean" ? value : String(value),
  ])
  const { cwd, env, stderr } = invocation
  const given = configurationInputs(invocation, values)
  const { configuration } = await loadConfiguration({
    ...given,
    flags: { ...given.flags, ...(Object.fromEntries(own) as Record<string, string | boolean>) },
  })
  return {
    ...configuration,
    withBuiltins: true,
    cwd,
    env,
    log: (line) => void stderr.write(`${neutralise(line)}\n`),
  }
}
