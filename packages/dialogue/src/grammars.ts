import type { InferRequest } from "@toolwright/backends"
import type { Grounding } from "@toolwright/logits"
import { Latest, messageOf, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import {
  grammarText,
  structuralTagFor,
  type FormatGrammarOptions,
  type GrammarText,
  type RefusedSchema,
  type StructuralTagOf,
  type ToolFormatter,
} from "@toolwright/toolformat"

/** Whether a reply may be text or has to be a call, and how many calls it may have. */
export type ReplyForm = Required<Pick<FormatGrammarOptions, "mode" | "parallel">>

/** Grammars that are kept: each is a text of some tens of kilobytes. */
const MOST_KEPT = 48

/** Tools whose calls one grammar holds: beyond, it is megabytes, and making it holds up everybody else. */
const MOST_TOOLS = 500

/** A grammar, or why there is none. */
export type MadeGrammar = GrammarText | { readonly text?: undefined; readonly reason: string }

/**
 * The grammars that were made of tools, so that the same tools, in whatever run or request, cost their grammar once.
 * Whoever puts together what runs share owns one.
 */
export class Grammars {
  readonly #made = new Latest<MadeGrammar>(MOST_KEPT)
  readonly #tags = new Latest<StructuralTagOf | undefined>(MOST_KEPT)
  /** What a schema says, by its object: most tools live as long as the program. */
  readonly #written = new WeakMap<JsonSchema, string>()
  readonly #numbers = new WeakMap<object, number>()
  #count = 0

  /** The grammar of text or calls in a format. */
  of(formatter: ToolFormatter, tools: readonly ToolDefinition[], form: ReplyForm): MadeGrammar {
    return this.#made.get(this.#keyOf(formatter, tools, form), () => makeGrammar(formatter, tools, form))
  }

  /** The same as a structural tag; undefined where none can be made. */
  tagOf(formatter: ToolFormatter, tools: readonly ToolDefinition[], form: ReplyForm): StructuralTagOf | undefined {
    return this.#tags.get(this.#keyOf(formatter, tools, form), () => makeTag(formatter, tools, form))
  }

  #keyOf(formatter: ToolFormatter, tools: readonly ToolDefinition[], form: ReplyForm): string {
    const said = tools.map(({ name, parameters }) => `${JSON.stringify(name)}:${this.#textOf(parameters)}`)
    return `${this.#nameOf(formatter)};${form.mode};${form.parallel};${said.join()}`
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
  #tags: boolean

  /** @param server what the server can do: begin to hold a reply where a call begins, and how */
  constructor(
    formatter: ToolFormatter,
    grammars: Grammars,
    server: { readonly lazyGrammar?: boolean; readonly structuralTags?: boolean },
  ) {
    this.#formatter = formatter
    this.#grammars = grammars
    this.#lazy = server.lazyGrammar === true
    this.#tags = server.structuralTags === true
  }

  /** From now on replies are held by grammars. @returns whether they were held by tags before */
  giveUpTags(): boolean {
    const had = this.#tags
    this.#tags = false
    return had
  }

  /** Where no grounded grammar can be made, arguments are not held to the conversation. */
  grammarOf(tools: readonly ToolDefinition[], grounding: GroundingNow, form: ReplyForm = ANY_FORM): MadeGrammar {
    const bound = grounding?.()
    const grounded = bound === undefined ? undefined : makeGrammar(this.#formatter, tools, form, bound)
    return grounded?.text === undefined ? this.#grammars.of(this.#formatter, tools, form) : grounded
  }

  /** What only begins with a call, where the server lets it; else a grammar of text and calls. */
  request(tools: readonly ToolDefinition[], grounding: GroundingNow, form: ReplyForm = ANY_FORM): RequestPart {
    // What arguments have to come from a conversation is said by grammars alone.
    if (this.#tags && grounding?.() === undefined) {
      const made = this.#grammars.tagOf(this.#formatter, tools, form)
      if (made !== undefined) return { request: { structuralTag: made.tag }, refused: made.refused }
    }
    if (this.#lazy && form.mode === "text-or-call") {
      const calls = this.grammarOf(tools, grounding, { ...form, mode: "call" })
      if (calls.text !== undefined && calls.triggers.length > 0)
        return { request: { grammar: calls.text, grammarTriggers: calls.triggers }, refused: calls.refused }
    }
    const made = this.grammarOf(tools, grounding, form)
    return made.text === undefined ? NOTHING : { request: { grammar: made.text }, refused: made.refused }
  }
}

function makeTag(
  formatter: ToolFormatter,
  tools: readonly ToolDefinition[],
  form: ReplyForm,
): StructuralTagOf | undefined {
  if (tools.length > MOST_TOOLS) return undefined
  try {
    return structuralTagFor(formatter.declaration ?? formatter.id, tools, { ...form, reasoning: true })
  } catch {
    // What no tag can say a grammar may, and its refusal is told.
    return undefined
  }
}

/** Makes a grammar; never throws, since calls are validated in any case. */
function makeGrammar(
  formatter: ToolFormatter,
  tools: readonly ToolDefinition[],
  form: ReplyForm,
  grounding?: Grounding,
): MadeGrammar {
  if (tools.length > MOST_TOOLS) return { reason: `there are more than ${MOST_TOOLS} tools` }
  const bound = grounding === undefined ? {} : { grounding }
  try {
    return grammarText(formatter.declaration ?? formatter.id, tools, { ...form, reasoning: true, ...bound })
  } catch (thrown) {
    return { reason: messageOf(thrown) }
  }
}
