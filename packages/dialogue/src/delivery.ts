import type { Backend, InferRequest } from "@toolwright/backends"
import {
  chooseDelivery,
  type Delivery,
  type DeliveryChoice,
  fallBackFrom,
  grammarToGbnf,
  type Fallback,
  type Grounding,
} from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"
import {
  type FormatGrammarOptions,
  formatterById,
  getFormatter,
  grammarFor,
  selectFormat,
  type OpenAITool,
  toOpenAITools,
  type ToolFormatter,
} from "@toolwright/toolformat"

/**
 * How calls may be read from replies. `structured`: native API, grammar, or the family's own syntax. `hybrid` (the
 * default) also takes the generic JSON forms. `text`: the generic forms alone, as a way back.
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
  grammars?: GrammarCache | undefined
}

/** Grammars of sets of tools by format and mode; nothing where none can be made. */
export type GrammarCache = WeakMap<readonly ToolDefinition[], Map<string, string | undefined>>

/** Whether a reply may be text or has to be a call, and how many calls it may have. */
export type ReplyForm = Required<Pick<FormatGrammarOptions, "mode" | "parallel">>

const ANY_FORM: ReplyForm = { mode: "text-or-call", parallel: true }

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
  requestPart(
    tools: readonly ToolDefinition[],
    grounding?: () => Grounding | undefined,
    form?: ReplyForm,
  ): Partial<InferRequest>
  /** The next rung after this error, once; nothing when the error has nothing to do with the constraint. */
  fallBack(error: unknown): { plan: DeliveryPlan; fallback: Fallback } | undefined
}

/**
 * The highest rung that the backend can take: native tools → grammar → family text → generic. An explicit format
 * decides the
 * syntax; `text` mode goes straight to the generic form.
 */
export function planDelivery(inputs: DeliveryInputs): DeliveryPlan {
  const { mode, grammars = new WeakMap() } = inputs
  const abilities = abilitiesFor(inputs)
  const formatter = textFormatter(inputs)
  const settings = {
    prefer: mode === "text" ? ("generic" as const) : undefined,
    knownFamily: formatter.id !== "generic",
    hasGrammar: abilities.grammar && !abilities.nativeTools && grammarOf(inputs.tools, inputs.grounding) !== undefined,
  }
  const rung = chooseDelivery(abilities, settings)
  let definitions: { of: readonly ToolDefinition[]; made: OpenAITool[] } | undefined
  return planFor(rung, because(rung, inputs), [])

  /** Where no grounded grammar can be made, arguments are free. */
  function grammarOf(
    tools: readonly ToolDefinition[],
    grounding: (() => Grounding | undefined) | undefined,
    form: ReplyForm = ANY_FORM,
  ): string | undefined {
    return groundedGrammar(formatter, tools, grounding?.(), form) ?? callGrammar(tools, form)
  }

  /** The grammar of text or calls, made once for each set of tools. */
  function callGrammar(tools: readonly ToolDefinition[], form: ReplyForm): string | undefined {
    let made = grammars.get(tools)
    if (made === undefined) grammars.set(tools, (made = new Map()))
    const key = `${formatter.id};${form.mode};${form.parallel}`
    if (!made.has(key))
      made.set(
        key,
        attempt(() =>
          grammarToGbnf(grammarFor(formatter.declaration ?? formatter.id, tools, { ...form, reasoning: true })),
        ),
      )
    return made.get(key)
  }

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
        if (current.constraint === "tools") return { tools: definitionsOf(tools), toolChoice: "auto" }
        const grammar = current.constraint === "grammar" ? grammarOf(tools, grounding, form) : undefined
        return grammar === undefined ? {} : { grammar }
      },
      fallBack(error) {
        const fallback = fallBackFrom(current, error, abilities, { ...settings, failed })
        if (fallback === undefined) return undefined
        return { fallback, plan: planFor(fallback.to, fallback.to.reason, [current.kind]) }
      },
    }
  }
}

/** The grammar for one conversation: made for each request, out of parts that are kept. */
function groundedGrammar(
  formatter: ToolFormatter,
  tools: readonly ToolDefinition[],
  grounding: Grounding | undefined,
  form: ReplyForm,
): string | undefined {
  return grounding === undefined
    ? undefined
    : attempt(() =>
        grammarToGbnf(
          grammarFor(formatter.declaration ?? formatter.id, tools, { ...form, reasoning: true, grounding }),
        ),
      )
}

/** The format's stop sequences, but those that stand within its calls: a server that keeps to them would cut each call. */
function stopOf(formatter: ToolFormatter): readonly string[] {
  const call = formatter.printCalls([{ id: "call_1", name: "tool", arguments: { text: "text" } }]).trimEnd()
  return formatter.stop.filter((stop) => !call.includes(stop) || call.indexOf(stop) === call.length - stop.length)
}

function attempt(make: () => string): string | undefined {
  try {
    return make()
  } catch {
    // The ladder's next rung needs no grammar; calls are validated in any case.
    return undefined
  }
}

/** A text format that was set goes before the server's own tool use. */
function abilitiesFor({ backend, explicit, refusesTools }: DeliveryInputs): Backend["abilities"] {
  const textOnly = explicit !== undefined && !explicit.supportsNativeToolUse()
  return textOnly || refusesTools === true ? { ...backend.abilities, nativeTools: false } : backend.abilities
}

/** The form of the server's own tool use: the one that was set, or what all of them have in common. */
function apiFormat({ backend, explicit }: DeliveryInputs): string {
  const api = explicit?.supportsNativeToolUse() === true ? explicit : undefined
  return api?.id ?? selectFormat(backend.modelName(), { backend: "openai" }).format.id
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
  if (rung.kind === "native") return `the ${backend.kind} backend has native tool use`
  if (explicit === undefined && backend.modelFormat !== undefined) return backend.modelFormat.because
  return explicit === undefined ? `the model is named '${backend.modelName()}'` : "the format is set explicitly"
}
