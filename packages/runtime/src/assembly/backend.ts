import {
  createScriptedBackend,
  loadScreenplay,
  openLlamaBackend,
  wrapBackend,
  type Backend,
} from "@toolwright/backends"
import { ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import type { Configuration } from "../configuration/settings.ts"
import type { ChooseReading, Pairing } from "../pairing/pairing.ts"
import { DEFAULT_PAIRING, pairingNamed } from "../pairing/choose.ts"
import { modelFormatOf } from "./model-format.ts"
import { isServerKind } from "./server-kinds.ts"
import { openServer } from "./servers.ts"
import { backendKindOf, hasModel, HOW_TO_CONFIGURE } from "./configured.ts"

/** What a backend takes from its surroundings. */
export interface BackendOptions {
  /** Absolute path of the workspace, which a model that knows relative paths alone is not shown. */
  root?: string
  /** Asks what was meant, for a model that measures its doubt. */
  choose?: ChooseReading | undefined
  /** Gets a line for what is found out of the model and decides how it is asked. */
  log?: ((line: string) => void) | undefined
  /** Where the user's state lies; the process's own unless given. */
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** All tools that there are, for a model that knows some of them and can be named others. */
  tools?: () => readonly ToolDefinition[]
}

/**
 * The backend that a configuration asks for: as named, or by what is set (a screenplay, a GGUF file, a server), or the
 * built-in model when nothing is.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` when something that it needs is missing, or what opening the model
 *   brings
 */
export async function backendFor({ model }: Configuration, options: BackendOptions = {}): Promise<Backend> {
  const kind = backendKindOf(model)
  const pairing = kind === undefined ? DEFAULT_PAIRING : pairingNamed(kind)
  if (pairing !== undefined) return openPairing(pairing, options, kind !== undefined)
  if (isServerKind(kind))
    return openServer(kind, model, { log: options.log ?? (() => {}), env: options.env ?? process.env })
  switch (kind) {
    case "scripted": {
      if (model.screenplay === undefined) throw missing("model.screenplay", "--screenplay FILE")
      const own = await modelFormatOf({ ...model, template: undefined }, undefined)
      const formatter = own?.formatter ?? (model.format === undefined ? undefined : formatterById(model.format))
      const screenplay = await loadScreenplay(model.screenplay)
      return createScriptedBackend(screenplay, formatter === undefined ? {} : { formatter })
    }
    case "llama":
      if (model.path === undefined) throw missing("model.path", "--model-path FILE")
      return openInProcess({ ...model, path: model.path })
    default:
      throw missing("model.backend", "--backend")
  }
}

async function openInProcess(model: Configuration["model"] & { path: string }): Promise<Backend> {
  const modelFormat = await modelFormatOf({ ...model, template: undefined }, undefined)
  const named = model.name === undefined ? {} : { modelName: model.name }
  const backend = await openLlamaBackend({ modelPath: model.path, ...named })
  return modelFormat === undefined ? backend : wrapBackend(backend, { modelFormat })
}

/** @param chosen whether it was chosen by name: where it was not, no model is configured */
async function openPairing(pairing: Pairing, options: BackendOptions, chosen: boolean): Promise<Backend> {
  try {
    return await pairing.open(options)
  } catch (thrown) {
    throw chosen ? thrown : withoutBuiltIn(thrown)
  }
}

/** Where the built-in model cannot run, none is configured; what is missing is said with it. */
function withoutBuiltIn(cause: unknown): unknown {
  if (!ToolwrightError.isInstance(cause)) return cause
  const { message, hint } = cause
  return new ToolwrightError("NO_MODEL", `No model is configured, and the built-in one cannot run: ${message}`, {
    cause,
    hint:
      `${hint === undefined ? "" : `${hint}\n`}${HOW_TO_CONFIGURE}\nWithout any model work: toolwright tools call, ` +
      "format, grammar, serve, mcp, demo.",
  })
}

/**
 * The backend of the configured model, for what the built-in model is no help in unless it was chosen by name.
 *
 * @param own a backend that was given in place of a configured one
 * @param make opens the backend, or gives one that is open
 * @throws ToolwrightError `NO_MODEL` when none is configured, otherwise as {@link backendFor}
 */
export async function configuredBackend(
  configuration: Configuration,
  own?: Backend,
  make: () => Promise<Backend> = () => backendFor(configuration),
): Promise<Backend> {
  if (own !== undefined || hasModel(configuration)) return make()
  throw new ToolwrightError("NO_MODEL", "No model is configured.", { hint: HOW_TO_CONFIGURE })
}

/** @throws ToolwrightError `NO_MODEL`, always: the built-in model would have nothing to call */
export function withoutModel(): never {
  throw new ToolwrightError(
    "NO_MODEL",
    "No model is configured, and the built-in one knows none of the tools that are registered.",
    {
      hint:
        `${HOW_TO_CONFIGURE}\nIn code: createToolwright({ model: { name: "…", baseUrl: "…" } }), or { builtins: {} ` +
        "} for the built-in tools and the built-in model.",
    },
  )
}

function missing(key: string, how: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The setting '${key}' is missing.`, { hint: `Give ${how}.` })
}
