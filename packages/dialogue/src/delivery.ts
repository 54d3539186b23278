import type { Backend } from "@toolwright/backends"
import {
  chooseDelivery,
  type Delivery,
  type DeliveryChoice,
  fallBackFrom,
  type Fallback,
  type Grounding,
} from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"
import {
  formatterById,
  getFormatter,
  selectFormat,
  type OpenAITool,
  toOpenAITools,
  type ToolFormatter,
} from "@toolwright/toolformat"
import { Grammars, HeldCalls, NOTHING, type ReplyForm, type RequestPart } from "./grammars.ts"

export { Grammars, type ReplyForm } from "./grammars.ts"

/**
 * How a model is to call. `structured` and `hybrid` (the default): by the native API, a grammar or the family's own
 * syntax, the highest that there is; over a native API `structured` takes no generic JSON in text for a call. `text`:
 * the generic form, as a way back. What a model writes beside what it was told is read by the formatter's recoveries.
 */
export type ToolCallingMode = "structured" | "hybrid" | "text"

/** What the choice is made from. */
export interface DeliveryInputs {
  backend: Backend
  mode: ToolCallingMode
  /** The format, where it is set and not chosen by the model's name. */
  explicit?: ToolFormatter | undefined
  /** The tools on offer now: whether a grammar can be made of them decides on that rung. */
  tools: readonly ToolDefinition[]
  /** What their arguments will be held to at first: the parts of that grammar are then made once. */
  grounding?: () => Grounding | undefined
  /** The server is known to refuse its own tool use. */
  refusesTools?: boolean | undefined
  /** Where grammars are kept that are made once; this plan's own unless given. */
  grammars?: Grammars | undefined
}

/** The chosen rung of the ladder with its format, and what to do when the backend refuses it. */
export interface DeliveryPlan {
  readonly delivery: Delivery
  /** Id of the format in which tools are offered: that of the server's API, or the one of the text. */
  readonly format: string
  /** How text is read and written. It always can be: what has an API form alone is read as the generic format. */
  readonly formatter: ToolFormatter
  readonly because: string
  /** Where replies in text end. */
  readonly stop: readonly string[]
  /**
   * The part of a request that carries the tools. Never two constraints at once.
   *
   * @param grounding what arguments are held to; asked for where there is a grammar
   * @param form what a reply has to be; a grammar sees to it
   */
  requestPart(tools: readonly ToolDefinition[], grounding?: () => Grounding | undefined, form?: ReplyForm): RequestPart
  /** The next rung after this error, once; nothing when the error has nothing to do with the constraint. */
  fallBack(error: unknown): { plan: DeliveryPlan; fallback: Fallback } | undefined
}

/**
 * The highest rung that the backend can take: native tools → grammar → family text → generic. An explicit format
 * decides the syntax; `text` mode goes straight to the generic form.
 */
export function planDelivery(inputs: DeliveryInputs): DeliveryPlan {
  const { mode, grammars = new Grammars() } = inputs
  const abilities = abilitiesFor(inputs)
  const formatter = textFormatter(inputs)
  const held = new HeldCalls(formatter, grammars, abilities)
  const grammar =
    abilities.grammar && !abilities.nativeTools ? held.grammarOf(inputs.tools, inputs.grounding) : undefined
  const settings = {
    prefer: mode === "text" ? ("generic" as const) : undefined,
    knownFamily: formatter.id !== "generic",
    hasGrammar: grammar?.text !== undefined,
  }
  const rung = chooseDelivery(abilities, settings)
  let definitions: { of: readonly ToolDefinition[]; made: OpenAITool[] } | undefined
  const without = grammar !== undefined && grammar.text === undefined ? `; no grammar holds it: ${grammar.reason}` : ""
  return planFor(rung, because(rung, inputs) + without, [])

  /** Made once for each list, so that what stays the same is the same. */
  function definitionsOf(tools: readonly ToolDefinition[]): OpenAITool[] {
    if (definitions?.of !== tools) definitions = { of: tools, made: toOpenAITools(tools) }
    return definitions.made
  }

  function planFor(current: DeliveryChoice, reason: string, failed: readonly Delivery[]): DeliveryPlan {
    return {
      delivery: current.kind,
      format: current.kind === "native" ? apiFormat(inputs) : formatter.id,
      formatter,
      because: reason,
      stop: current.kind === "native" ? [] : stopOf(formatter),
      requestPart(tools, grounding, form) {
        if (current.constraint === "tools")
          return { request: { tools: definitionsOf(tools), toolChoice: "auto" }, refused: [] }
        return current.constraint === "grammar" ? held.request(tools, grounding, form) : NOTHING
      },
      fallBack(error) {
        const fallback = fallBackFrom(current, error, abilities, { ...settings, failed })
        if (fallback === undefined) return undefined
        if (current.constraint === "grammar" && held.giveUpTags()) {
          const to = { ...current, reason: "the server takes no structural tags" }
          const told = `${fallback.error} Instead of structural tags, a grammar holds the calls.`
          return { fallback: { ...fallback, to, error: told }, plan: planFor(to, to.reason, failed) }
        }
        return { fallback, plan: planFor(fallback.to, fallback.to.reason, [current.kind]) }
      },
    }
  }
}

/**
 * The format's stop sequences, but those that stand within its calls: a server that keeps to them would cut each call.
 */
function stopOf(formatter: ToolFormatter): readonly string[] {
  const call = formatter.printCalls([{ id: "call_1", name: "tool", arguments: { text: "text" } }]).trimEnd()
  return formatter.stop.filter((stop) => !call.includes(stop) || call.indexOf(stop) === call.length - stop.length)
}

/** A text format that was set goes before the server's own tool use. */
function abilitiesFor({ backend, explicit, refusesTools }: DeliveryInputs): Backend["abilities"] {
  const textOnly = explicit !== undefined && !explicit.supportsNativeToolUse()
  return textOnly || refusesTools === true ? { ...backend.abilities, nativeTools: false } : backend.abilities
}

/** The form of the server's own tool use: the one that was set, or what all of them have in common. */
function apiFormat({ backend, explicit }: DeliveryInputs): string {
  const api = explicit?.supportsNativeToolUse() === true ? explicit : undefined
  return api?.id ?? selectFormat(backend.modelName(), { backend: backend.api ?? "openai" }).format.id
}

/** The format for calls in text; families that only have an API form use the generic one there. */
function textFormatter({ backend, mode, explicit }: DeliveryInputs): ToolFormatter {
  const formatter =
    mode === "text"
      ? formatterById("generic")
      : (explicit ?? backend.modelFormat?.formatter ?? getFormatter(backend.modelName()))
  return formatter.supportsNativeToolUse() ? formatterById("generic") : formatter
}

function because(rung: DeliveryChoice, { backend, mode, explicit }: DeliveryInputs): string {
  if (mode === "text") return "tool calling is set to text"
  if (rung.kind === "native") return `tool use of its server, backend ${backend.kind}`
  if (explicit === undefined && backend.modelFormat !== undefined) return backend.modelFormat.because
  return explicit === undefined ? `the model is named '${backend.modelName()}'` : "the format is set explicitly"
}
