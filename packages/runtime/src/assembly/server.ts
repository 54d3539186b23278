import { probeAbilities, type Dialect, type ModelFormat, type ProbedServer } from "@toolwright/backends"
import { keptExamination } from "../doctor/kept.ts"
import type { Configuration } from "../configuration/settings.ts"
import { modelFormatOf, readsText } from "./model-format.ts"

type Model = Configuration["model"]

/** What finding out takes from its surroundings. */
interface Surroundings {
  log: (line: string) => void
  env: Readonly<Record<string, string | undefined>>
  /** What was found out already. */
  probed?: ProbedServer
}

/** What is known of a model server before the first request. */
export interface KnownServer {
  dialect: Dialect
  nativeTools: boolean
  contextTokens?: number
  modelFormat?: ModelFormat
  /** The models that it said it has. */
  models?: readonly string[]
}

const UNKNOWN: Pick<ProbedServer, "dialect" | "models" | "contextTokens"> = { dialect: "generic", models: [] }

/**
 * Finds out what matters of a server: on this machine and in its network always, elsewhere only where grammars can be
 * of use, since strangers' servers are not asked for pages that they do not have. The model's template comes from the
 * setting, or from the server.
 *
 * @param log gets a line for what is decided by it
 * @throws ToolwrightError `NO_TEMPLATE` where the setting names none
 */
export async function knownServer(
  model: Model,
  baseUrl: string,
  { log, env, probed: known }: Surroundings,
): Promise<KnownServer> {
  const examined = model.examined ? examinedServer(model, baseUrl, env, log) : undefined
  if (examined !== undefined) return examined
  const nativeTools = model.nativeTools && !readsText(model)
  const asks = model.dialect === "auto" && (!nativeTools || isNear(baseUrl))
  const probed = known ?? (asks ? await probe(model, baseUrl) : undefined)
  const modelFormat = await modelFormatOf(model, probed, log)
  if (model.template === undefined) warnOfTemplate(probed, log)
  const { dialect, contextTokens, models } = probed ?? UNKNOWN
  return {
    dialect: model.dialect === "auto" ? dialect : model.dialect,
    nativeTools: nativeTools && takesTools(probed, log),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(modelFormat === undefined ? {} : { modelFormat }),
    models,
  }
}

/**
 * Says where a template is the plainest of all, which llama.cpp takes for files that bring none: the model was trained
 * on another then, and answers badly to this one.
 */
export function warnOfTemplate(probed: ProbedServer | undefined, log: (line: string) => void): void {
  if (probed?.dialect !== "llama.cpp" || probed.chatTemplate === undefined || !isPlain(probed.chatTemplate)) return
  log(
    "The chat template that the server shows is plain ChatML without tools, which llama.cpp also takes for a " +
      "model that brings none. Unless the model was trained on it, give its own: --chat-template-file FILE at the " +
      "server, --model-template FILE here.",
  )
}

/** A loop over messages between ChatML's marks, and nothing else. */
export function isPlain(template: string): boolean {
  return template.length < 500 && template.includes("<|im_start|>") && !/tool|reasoning|think/i.test(template)
}

function probe({ apiKey, name }: Model, baseUrl: string): Promise<ProbedServer> {
  return probeAbilities(baseUrl, {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(name === undefined ? {} : { modelName: name }),
  })
}

/** What the doctor found out earlier; a line says where there is nothing. */
function examinedServer(
  { name = "" }: Model,
  baseUrl: string,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): KnownServer | undefined {
  const found = keptExamination(env, baseUrl, name)
  if (found !== undefined) return found.settings
  log(`Nothing is known of '${name}' at ${baseUrl} yet: toolwright doctor ${name} --base-url ${baseUrl}`)
  return undefined
}

/** Where a server says that its model's template has no tools, calls would never come. */
function takesTools(probed: ProbedServer | undefined, log: (line: string) => void): boolean {
  if (probed?.reachable !== true || probed.abilities.nativeTools) return true
  log("The server says that this model's chat template knows no tools: they are written into the prompt.")
  return false
}

/** Whether an address is on this machine or in its own network. */
function isNear(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false
  const { hostname } = new URL(baseUrl)
  return (
    /^(localhost|\[::1\]|127(\.\d+){3}|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2})$/.test(
      hostname,
    ) || /\.(local|internal|lan)$/.test(hostname)
  )
}
