import type { Backend } from "@toolwright/backends"
import type { ToolRegistry } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { pairingFor } from "../pairing/choose.ts"
import type { ChooseReading, Pairing } from "../pairing/pairing.ts"
import { backendFor, withoutModel } from "./backend.ts"
import { backendKindOf, hasModel } from "./configured.ts"
import { isServerKind } from "./server-kinds.ts"

/** The model that does the runs, opened at its first use. */
export interface Model {
  /** What it is paired with, where it is a model with tools, limits and words of its own. */
  readonly pairing: Pairing | undefined
  /**
   * @param former the model of a run that goes on: where a server is configured and no model is named, that one is
   *   meant
   * @throws ToolwrightError `NO_MODEL`, or what opening the model brings
   */
  backend(former?: string): Promise<Backend>
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
  const made = new Map<string, Promise<Backend>>()
  const open = async (named: Configuration): Promise<Backend> => {
    if (own !== undefined) return own
    return pairing !== undefined || hasModel(named)
      ? backendFor(named, { root, choose, log, env, tools: () => registry.list() })
      : withoutModel()
  }
  const opened = async (named: Configuration): Promise<Backend> => {
    const backend = await open(named)
    if (configuration.agent.toolBias && backend.tokenize === undefined) log?.(NO_TOOL_BIAS)
    if (configuration.runs.tokens && backend.abilities.tokens !== true) log?.(NO_TOKENS)
    return backend
  }
  return {
    pairing,
    backend(former) {
      const named = withModelNamed(configuration, former)
      const name = named.model.name ?? ""
      const known = made.get(name) ?? opened(named)
      made.set(name, known)
      return known
    },
    async close() {
      for (const each of made.values()) await (await each.catch(() => undefined))?.close?.()
    },
  }
}

const NO_TOOL_BIAS =
  "This model does not tell its tokens, so agent.toolBias changes nothing: llama.cpp's server, vLLM, SGLang and " +
  "models in this process do."
const NO_TOKENS =
  "This model does not tell how it comes to its replies, so none of their tokens is recorded: models in this " +
  "process do (--backend pocket, or llama with --model-path)."

/** A server that is configured without the name of a model is asked for that of the run. */
function withModelNamed(configuration: Configuration, former: string | undefined): Configuration {
  const { model } = configuration
  const kind = backendKindOf(model)
  if (former === undefined || former === "" || model.name !== undefined || !isServerKind(kind)) return configuration
  return { ...configuration, model: { ...model, name: former } }
}
