import { wrapBackend, type Backend, type ModelFormat, type ProbedServer } from "@toolwright/backends"
import { generateWithTools } from "@toolwright/agents"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { selectFormat, toolsFromJson } from "@toolwright/toolformat"
import { backendKindOf } from "../assembly/configured.ts"
import { modelFormatOf } from "../assembly/model-format.ts"
import { isPlain } from "../assembly/server.ts"
import { isServerKind } from "../assembly/server-kinds.ts"
import { openServer, probeServer } from "../assembly/servers.ts"
import type { Examination, GrammarFinding, Tries } from "./examination.ts"
import { usualAddress } from "../configuration/address.ts"
import type { Configuration } from "../configuration/settings.ts"

/** Settings of an examination. */
export interface ExamineOptions {
  /** How often the model is asked, in each way; ten unless given. */
  tries?: number
  signal?: AbortSignal
  /** Gets a line before each step. */
  log?: (line: string) => void
}

/** Of ten tries, so many have to come out. */
const ENOUGH = 0.8
const TOOL = toolsFromJson([
  {
    name: "get_temperature",
    description: "Tells the temperature in a city, in degrees Celsius.",
    parameters: {
      type: "object",
      properties: { city: { type: "string", description: "Name of the city" } },
      required: ["city"],
    },
  },
])
const CITIES = ["Zürich", "Lisbon", "Oslo", "Nairobi", "Lima", "Kyoto", "Quito", "Cairo", "Perth", "Riga"]
/** The only word that the trial grammar allows; no model says it by itself. */
const WORD = "xylophone"

/**
 * Finds out how a model is best asked: what its server is, which template and window it has, whether it calls a tool
 * when it is asked to, by the server's own tool use and with the tools written into the prompt, and whether grammars
 * hold it.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where no server is named, or no model of several, `MODEL_NOT_FOUND` or
 *   `MODEL_UNAUTHORIZED` where the server does not let anybody ask that model
 */
export async function examine(
  { model }: Pick<Configuration, "model">,
  options: ExamineOptions = {},
): Promise<Examination> {
  const named = backendKindOf(model)
  const kind = isServerKind(named) ? named : "openai-compatible"
  const baseUrl = model.baseUrl ?? usualAddress(kind)
  if (baseUrl === undefined)
    throw new ToolwrightError("INVALID_CONFIGURATION", "Which model, and where?", {
      hint: "Name both: toolwright doctor qwen2.5:7b --base-url http://localhost:11434/v1",
    })
  const { log = () => {}, tries = 10, signal } = options
  log(`Asking ${baseUrl} what it is …`)
  const name = model.name ?? onlyModel(baseUrl, await probeServer(kind, { ...model, baseUrl }, signal))
  if (model.name === undefined) log(`It has one model, '${name}': that one is examined.`)
  const asked = { ...model, baseUrl, name }
  const probed = await probeServer(kind, asked, signal)
  const format = await modelFormatOf(model, probed)
  const opened = await openServer(
    kind,
    { ...asked, nativeTools: true, examined: false },
    { log: () => {}, env: {}, probed, retries: false },
  )
  const backend = (nativeTools: boolean) =>
    wrapBackend(opened, { abilities: { ...opened.abilities, nativeTools } } satisfies Partial<Backend>)
  const asking = { tries, signal, log }
  const none = { called: 0, of: 0 }
  const own = probed.reachable && kind !== "llama-server"
  const native = own ? await tryOut(nativeOnly(backend(true)), "by the server's own tool use", asking) : none
  const text = probed.reachable ? await tryOut(backend(false), "with the tools in the prompt", asking) : none
  const grammar = probed.abilities.grammar ? await tryHeld(backend(false), "grammar", asking) : "not offered"
  const tags = probed.abilities.structuralTags === true
  const structuralTags = tags ? await tryHeld(backend(false), "structural tag", asking) : undefined
  return {
    baseUrl,
    model: name,
    backend: kind,
    ...serverPart(probed, name, format),
    ...(structuralTags === undefined ? {} : { structuralTags }),
    ...concluded({ native, text, grammar }, probed),
  }
}

/** The model that is meant where none is named. @throws ToolwrightError `INVALID_CONFIGURATION` where it may be several */
function onlyModel(baseUrl: string, { models, reachable }: ProbedServer): string {
  const [only, second] = models
  if (only !== undefined && second === undefined) return only
  const listed = `${models.slice(0, MOST_LISTED).join(", ")}${models.length > MOST_LISTED ? ", …" : ""}`
  throw new ToolwrightError("INVALID_CONFIGURATION", "Which model?", {
    hint:
      only !== undefined
        ? `The server at ${baseUrl} has ${listed}: name one, as in 'toolwright doctor ${only} --base-url ${baseUrl}'.`
        : reachable
          ? `The server at ${baseUrl} lists none: name it, as in 'toolwright doctor qwen2.5:7b --base-url ${baseUrl}'.`
          : `Nothing answers at ${baseUrl}. Start the server, or name another with --base-url.`,
  })
}

/** Models that a question names. */
const MOST_LISTED = 30

/** What the server says of itself and of the model. */
function serverPart(probed: ProbedServer, name: string, format: ModelFormat | undefined) {
  const { contextTokens, version, dialect, models, chatTemplate, abilities, reachable } = probed
  return {
    reachable,
    dialect,
    ...(version === undefined ? {} : { version }),
    ...(models.length === 0 ? {} : { listed: models.includes(name) }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    template: templateWord(chatTemplate),
    ...formatPart(name, format),
    saysNative: abilities.nativeTools,
  }
}

function templateWord(template: string | undefined): Examination["template"] {
  if (template === undefined) return "not shown"
  return isPlain(template) ? "plain" : "shown"
}

/** Where there is no template, the model's name says the format. */
function formatPart(name: string, known: ModelFormat | undefined): Pick<Examination, "format" | "formatBecause"> {
  if (known !== undefined) return { format: known.formatter.id, formatBecause: known.because }
  const { format, because } = selectFormat(name)
  return { format: format.id, formatBecause: because }
}

/** What was tried, and what follows from it. */
function concluded(
  { native, text, grammar }: { native: Tries; text: Tries; grammar: GrammarFinding },
  { contextTokens, dialect }: ProbedServer,
) {
  const nativeTools = native.called >= text.called && native.called > 0
  const best = nativeTools ? native : text
  const settings = { nativeTools, dialect, ...(contextTokens === undefined ? {} : { contextTokens }) }
  return { native, text, grammar, settings, usable: best.of > 0 && best.called >= best.of * ENOUGH }
}

/** Where the server refuses tools, they are not tried in the prompt instead: that is asked apart. */
function nativeOnly(backend: Backend): Backend {
  return wrapBackend(backend, {
    infer(request, options) {
      if ((request.tools ?? []).length > 0) return backend.infer(request, options)
      throw new ToolwrightError("MODEL_REQUEST_REJECTED", "it takes no tools for this model.")
    },
  } satisfies Partial<Backend>)
}

interface Asking {
  tries: number
  signal: AbortSignal | undefined
  log: (line: string) => void
}

/** Asks for a temperature again and again; a call of the tool with the right city counts. */
async function tryOut(backend: Backend, how: string, { tries, signal, log }: Asking): Promise<Tries> {
  log(`Asking the model to call a tool, ${how}, ${tries} times …`)
  let called = 0
  let otherwise: string | undefined
  for (let index = 0; index < tries; index++) {
    signal?.throwIfAborted()
    const city = CITIES[index % CITIES.length]!
    const wrong = await once(backend, city, signal)
    if (wrong === undefined) called++
    else otherwise = wrong
    // a server that refuses will go on refusing
    if (called === 0 && index === 1 && otherwise?.startsWith("The server") === true)
      return { called, of: tries, otherwise }
  }
  return { called, of: tries, ...(otherwise === undefined ? {} : { otherwise }) }
}

/** Failures that say nothing of what the model can do: no other try would reach it. */
const NOT_OF_THE_MODEL: ReadonlySet<string> = new Set(["MODEL_NOT_FOUND", "MODEL_UNAUTHORIZED"])

/** Why the call did not come; undefined where it did. */
async function once(backend: Backend, city: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const question = `What is the temperature in ${city}? Use the tool get_temperature.`
  try {
    const made = await generateWithTools(backend, TOOL, question, signal === undefined ? {} : { signal })
    if (made.type === "text") return `It answered in words: ${JSON.stringify(made.content.slice(0, 120))}.`
    const [call] = made.tool_calls
    if (call?.name !== TOOL[0]!.name) return `It called '${call?.name ?? ""}'.`
    return String(call.arguments.city).includes(city) ? undefined : `It gave ${JSON.stringify(call.arguments)}.`
  } catch (thrown) {
    signal?.throwIfAborted()
    if (thrown instanceof ToolwrightError && NOT_OF_THE_MODEL.has(thrown.code)) throw thrown
    return `The server refused: ${messageOf(thrown)}`
  }
}

/** What allows one word alone, by each way to hold a model to it. */
const ONE_WORD = {
  grammar: { grammar: `root ::= "${WORD}"` },
  "structural tag": { structuralTag: { type: "structural_tag", format: { type: "const_string", value: WORD } } },
} as const

/** Whether what allows one word holds the model to it. */
async function tryHeld(backend: Backend, how: keyof typeof ONE_WORD, { signal, log }: Asking): Promise<GrammarFinding> {
  log(`Holding the model to a ${how} of one word …`)
  let text = ""
  try {
    const messages = [{ role: "user", content: "Say hello." }] as const
    const request = { messages, ...ONE_WORD[how], sampling: { maxTokens: 32 } }
    for await (const event of backend.infer(request, signal === undefined ? {} : { signal }))
      if (event.type === "text-delta") text += event.text
  } catch {
    signal?.throwIfAborted()
    return "refused"
  }
  return text.trim() === WORD ? "held" : "ignored"
}
