import type { Backend } from "@toolwright/backends"
import type { ToolRegistry } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { pairingFor } from "../pairing/choose.ts"
import type { ChooseReading, Pairing } from "../pairing/pairing.ts"
import { backendFor, withoutModel } from "./backend.ts"
import { hasModel } from "./configured.ts"

/** The model that does the runs, opened at its first use. */
export interface Model {
  /** What it is paired with, where it is a model with tools, limits and words of its own. */
  readonly pairing: Pairing | undefined
  /** @throws ToolwrightError `NO_MODEL`, or what opening the model brings */
  backend(): Promise<Backend>
  close(): Promise<void>
}

/**
 * The model of a configuration.
 *
 * @param own a backend that was given in place of the configured one
 * @param root the workspace, whose path a model that knows relative ones alone is not shown
 * @param choose asks what was meant, for a model that measures its doubt
 */
export function modelFor(
  configuration: Configuration,
  registry: ToolRegistry,
  {
    own,
    root,
    choose,
    log,
    env,
  }: {
    own: Backend | undefined
    root: string
    choose: ChooseReading | undefined
    log?: (line: string) => void
    env?: Readonly<Record<string, string | undefined>>
  },
): Model {
  const pairing = pairingFor(configuration, own, registry)
  let made: Promise<Backend> | undefined
  const open = async (): Promise<Backend> => {
    if (own !== undefined) return own
    return pairing !== undefined || hasModel(configuration)
      ? backendFor(configuration, { root, choose, log, env, tools: () => registry.list() })
      : withoutModel()
  }
  const opened = async (): Promise<Backend> => {
    const backend = await open()
    if (configuration.runs.tokens && backend.abilities.tokens !== true) log?.(NO_TOKENS)
    return backend
  }
  return {
    pairing,
    backend: () => (made ??= opened()),
    async close() {
      await (await made?.catch(() => undefined))?.close?.()
    },
  }
}

const NO_TOKENS =
  "This model does not tell how it comes to its replies, so none of their tokens is recorded: models in this process do (--backend pocket, or llama with --model-path)."
