import type { InferRequest } from "@toolwright/backends"
import type { Grounding } from "@toolwright/logits"
import { Latest, messageOf, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import {
  grammarText,
  type FormatGrammarOptions,
  type GrammarText,
  type RefusedSchema,
  type ToolFormatter,
} from "@toolwright/toolformat"

/** Whether a reply may be text or has to be a call, and how many calls it may have. */
export type ReplyForm = Required<Pick<FormatGrammarOptions, "mode" | "parallel">>

/** Grammars that are kept: each is a text of some tens of kilobytes. */
const MOST_KEPT = 48

/** A grammar, or why there is none. */
export type MadeGrammar = GrammarText | { readonly text?: undefined; readonly reason: string }

/**
 * The grammars that were made of tools, so that the same tools, in whatever run or request, cost their grammar once.
 * Whoever puts together what runs share owns one.
 */
export class Grammars {
  readonly #made = new Latest<MadeGrammar>(MOST_KEPT)
  /** What a schema says, by its object: most tools live as long as the program. */
  readonly #written = new WeakMap<JsonSchema, string>()
  readonly #numbers = new WeakMap<object, number>()
  #count = 0

  /** The grammar of text or calls in a format. */
  of(formatter: ToolFormatter, tools: readonly ToolDefinition[], form: ReplyForm): MadeGrammar {
    const said = tools.map(({ name, parameters }) => `${JSON.stringify(name)}:${this.#textOf(parameters)}`)
    const key = `${this.#nameOf(formatter)};${form.mode};${form.parallel};${said.join()}`
    return this.#made.get(key, () => makeGrammar(formatter, tools, form))
  }

  #textOf(schema: JsonSchema): string {
    let text = this.#written.get(schema)
    if (text === undefined) this.#written.set(schema, (text = JSON.stringify(schema)))
    return text
  }

  /** Inferred formats may share a name. */
  #nameOf({ id, declaration }: ToolFormatter): string {
    if (declaration === undefined) return id
    let number = this.#numbers.get(declaration)
    if (number === undefined) this.#numbers.set(declaration, (number = this.#count++))
    return `${id} ${number}`
  }
}

/** What a request has of the tools. */
export interface RequestPart {
  readonly request: Partial<InferRequest>
  /** Tools that the request's grammar lets be called with any arguments, since their schemas are too much for it. */
  readonly refused: readonly RefusedSchema[]
}

export const NOTHING: RequestPart = { request: {}, refused: [] }
const ANY_FORM: ReplyForm = { mode: "text-or-call", parallel: true }

type GroundingNow = (() => Grounding | undefined) | undefined

/** Holds replies to the calls of a format, as far as the server takes grammars. */
export class HeldCalls {
  readonly #formatter: ToolFormatter
  readonly #grammars: Grammars
  readonly #lazy: boolean

  /** @param settings.lazy the server can begin to hold a reply where a call begins */
  constructor(formatter: ToolFormatter, { grammars, lazy }: { grammars: Grammars; lazy: boolean }) {
    this.#formatter = formatter
    this.#grammars = grammars
    this.#lazy = lazy
  }

  /** Where no grounded grammar can be made, arguments are not held to the conversation. */
  grammarOf(tools: readonly ToolDefinition[], grounding: GroundingNow, form: ReplyForm = ANY_FORM): MadeGrammar {
    const bound = grounding?.()
    const grounded = bound === undefined ? undefined : makeGrammar(this.#formatter, tools, form, bound)
    return grounded?.text === undefined ? this.#grammars.of(this.#formatter, tools, form) : grounded
  }

  /** A grammar that only begins with a call, where the server lets it; else one of text and calls. */
  request(tools: readonly ToolDefinition[], grounding: GroundingNow, form: ReplyForm = ANY_FORM): RequestPart {
    if (this.#lazy && form.mode === "text-or-call") {
      const calls = this.grammarOf(tools, grounding, { ...form, mode: "call" })
      if (calls.text !== undefined && calls.triggers.length > 0)
        return { request: { grammar: calls.text, grammarTriggers: calls.triggers }, refused: calls.refused }
    }
    const made = this.grammarOf(tools, grounding, form)
    return made.text === undefined ? NOTHING : { request: { grammar: made.text }, refused: made.refused }
  }
}

/** Makes a grammar; never throws, since calls are validated in any case. */
function makeGrammar(
  formatter: ToolFormatter,
  tools: readonly ToolDefinition[],
  form: ReplyForm,
  grounding?: Grounding,
): MadeGrammar {
  const bound = grounding === undefined ? {} : { grounding }
  try {
    return grammarText(formatter.declaration ?? formatter.id, tools, { ...form, reasoning: true, ...bound })
  } catch (thrown) {
    return { reason: messageOf(thrown) }
  }
}
