import type { Backend } from "@toolwright/backends"
import type { ToolRegistry } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { backendFor, hasModel, withoutModel } from "./backend.ts"
import { runsOnPocket } from "./pocket.ts"

/** The model that does the runs, opened at its first use. */
export interface Model {
  /** Whether it is the built-in pocket model. */
  readonly pocket: boolean
  /** @throws ToolwrightError `NO_MODEL`, or what opening the model brings */
  backend(): Promise<Backend>
  close(): Promise<void>
}

/**
 * The model of a configuration.
 *
 * @param own a backend that was given in place of the configured one
 * @param root the workspace, whose path the pocket model is not shown
 */
export function modelFor(
  configuration: Configuration,
  registry: ToolRegistry,
  { own, root }: { own: Backend | undefined; root: string },
): Model {
  const pocket = runsOnPocket(configuration, own, registry)
  let made: Promise<Backend> | undefined
  const open = async (): Promise<Backend> => {
    if (own !== undefined) return own
    return pocket || hasModel(configuration) ? backendFor(configuration, { root }) : withoutModel()
  }
  return {
    pocket,
    backend: () => (made ??= open()),
    async close() {
      await (await made?.catch(() => undefined))?.close?.()
    },
  }
}
