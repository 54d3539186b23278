import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { ToolFormatter } from "../model/formatter.ts"
import { formatterById, recogniseTemplate } from "../selector/index.ts"
import type { ChatMessage } from "../model/message.ts"
import { idsOfTemplate, withTemplateIds, type TemplateIds } from "./call-ids.ts"
import {
  renderConversation,
  withJoinedTurns,
  withSingleCalls,
  withSystemInUser,
  withSystemText,
  type TextParts,
} from "./conversation.ts"
import { probeDrops, type TemplateDrops } from "./drops.ts"
import { TemplateError } from "./jinja/errors.ts"
import type { RenderLimits } from "./jinja/rendering.ts"
import type { TemplateTree } from "./jinja/nodes.ts"
import { parseTemplate } from "./jinja/parse-template.ts"
import { renderWithData } from "./jinja/render.ts"
import { toDefinitions, toTemplateMessages, toTemplateTools, type MessageForm, type TemplateTool } from "./messages.ts"

/** What a template is rendered with, beside the conversation. */
export interface ChatTemplateOptions {
  /** Text of the tokenizer's special tokens; empty unless given. */
  bosToken?: string
  eosToken?: string
  /** The clock of `strftime_now`; the system's local time unless given. */
  now?: () => Date
  /** Variables of the template itself, such as `enable_thinking`. */
  variables?: JsonObject
  /** How call ids are rewritten; found out from the template unless given. */
  ids?: TemplateIds
  /**
   * The format in which tools, calls and results are written out as text where the template leaves them out. Unless
   * given, it is the one whose marks the template has, else the generic one. With `none` nothing is written out, and
   * {@link ChatTemplate.drops} still tells what is missing.
   */
  fallback?: ToolFormatter | "none"
  limits?: Partial<RenderLimits>
}

/** One rendering. */
export interface TemplateInput {
  messages: readonly ChatMessage[]
  tools?: readonly TemplateTool[]
  /** Whether the prompt ends where the assistant's answer begins. True unless given. */
  addGenerationPrompt?: boolean
  variables?: JsonObject
}

/**
 * What had to be done so that the template shows the whole conversation: parts written as text because it drops them, a
 * system message added because it lists the tools there only or moved because it refuses that role, arguments given as
 * JSON text because it fails on objects, calls made side by side shown one after the other because it shows only one,
 * neighbouring messages of one speaker joined because it wants them to alternate.
 */
export type Adaptation =
  | "one-call-per-message"
  | "turns-joined"
  | "tools-as-text"
  | "system-added"
  | "calls-as-text"
  | "results-as-text"
  | "system-in-user"
  | "arguments-as-text"

/** A model's chat template, ready to render. */
export interface ChatTemplate {
  readonly source: string
  /**
   * The prompt.
   * @throws TemplateError when the template fails or refuses the conversation in every form that could be tried
   */
  render(input: TemplateInput): string
  /** The prompt, and what was adapted to get it. */
  renderWithReport(input: TemplateInput): { text: string; adaptations: Adaptation[] }
  /** What the template silently leaves out, found out once by rendering marked messages. */
  drops(): TemplateDrops
}

/** A system message that changes nothing, where a template lists the tools only beside one. */
const DEFAULT_SYSTEM = "You are a helpful assistant."

/** How a conversation can be changed so that a template takes it, in the order in which the changes are made. */
const CHANGES: readonly (readonly [Adaptation, (messages: readonly ChatMessage[]) => ChatMessage[]])[] = [
  ["system-in-user", withSystemInUser],
  ["turns-joined", withJoinedTurns],
  ["one-call-per-message", withSingleCalls],
]

/** The forms in which a conversation is tried: as it is, with one change, with two, and so on. */
const FORMS: readonly (readonly Adaptation[])[] = ["arguments-as-text" as const, ...CHANGES.map(([name]) => name)]
  .reduce<Adaptation[][]>((forms, name) => [...forms, ...forms.map((form) => [...form, name])], [[]])
  .sort((a, b) => a.length - b.length)

/**
 * Makes a model's own chat template ready. It is rendered byte for byte as Python's `transformers` renders it, so that
 * the model sees what it was trained on.
 *
 * @param source the Jinja text, from `tokenizer_config.json`, `chat_template.jinja` or a GGUF file's metadata
 * @throws TemplateError `TEMPLATE_SYNTAX`
 * @example
 * const template = createChatTemplate("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")
 * template.render({ messages: [{ role: "user", content: "Hello" }] })
 */
export function createChatTemplate(source: string, options: ChatTemplateOptions = {}): ChatTemplate {
  return new ParsedTemplate(source, options)
}

interface Rendered {
  text: string
  adaptations: Adaptation[]
}

class ParsedTemplate implements ChatTemplate {
  readonly source: string
  readonly #options: ChatTemplateOptions
  readonly #tree: TemplateTree
  readonly #ids: TemplateIds
  #drops: TemplateDrops | undefined

  constructor(source: string, options: ChatTemplateOptions) {
    this.source = source
    this.#options = options
    this.#tree = parseTemplate(source)
    this.#ids = options.ids ?? idsOfTemplate(source)
  }

  render(input: TemplateInput): string {
    return this.renderWithReport(input).text
  }

  renderWithReport(input: TemplateInput): Rendered {
    if (!Array.isArray(input.messages)) {
      throw new ToolwrightError("INVALID_MESSAGES", "A chat template renders a list of messages.", {
        hint: 'Pass { messages: [{ role: "user", content: "…" }] }.',
      })
    }
    const present = presentParts(input)
    const usesTools = present.tools || present.calls || present.results
    const { fallback: wanted } = this.#options
    if (wanted === "none" || !usesTools) return this.#renderAdapted(input)
    const fallback = wanted ?? formatterById(recogniseTemplate(this.source)?.formatId ?? "generic")
    try {
      return this.#renderParts(input, fallback, missingParts(input, this.drops()))
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown
      try {
        return this.#renderParts(input, fallback, present)
      } catch {
        throw thrown
      }
    }
  }

  drops(): TemplateDrops {
    this.#drops ??= probeDrops((messages, tools) => this.#renderAdapted({ messages, tools }).text)
    return this.#drops
  }

  /** Renders with these parts written as text. */
  #renderParts(input: TemplateInput, fallback: ToolFormatter, parts: TextParts): Rendered {
    const { tools = [], ...rest } = input
    const drops = this.drops()
    const written: Adaptation[] = []
    if (parts.tools) written.push("tools-as-text")
    if (parts.calls) written.push("calls-as-text")
    if (parts.results) written.push("results-as-text")
    let messages =
      written.length === 0 ? input.messages : renderConversation(fallback, input.messages, toDefinitions(tools), parts)
    if (!parts.tools && tools.length > 0 && drops.toolsWithoutSystem && messages[0]?.role !== "system") {
      messages = withSystemText(messages, DEFAULT_SYSTEM)
      written.push("system-added")
    }
    if (drops.parallelCalls && mostCalls(messages) > 1) {
      messages = withSingleCalls(messages)
      written.push("one-call-per-message")
    }
    const { text, adaptations } = this.#renderAdapted(
      parts.tools ? { ...rest, messages } : { ...rest, tools, messages },
    )
    return { text, adaptations: [...written, ...adaptations] }
  }

  /**
   * Renders in the usual form; where the template fails on that, in the others. The first failure is the one that is
   * told.
   */
  #renderAdapted(input: TemplateInput): Rendered {
    const possible = possibleChanges(input.messages)
    let first: unknown
    for (const adaptations of FORMS) {
      if (!adaptations.every((adaptation) => possible.has(adaptation))) continue
      const messages = changed(input.messages, adaptations)
      const form = { argumentsAsText: adaptations.includes("arguments-as-text") }
      try {
        return { text: this.#renderOnce({ ...input, messages }, form), adaptations: [...adaptations] }
      } catch (thrown) {
        if (!isRefusal(thrown)) throw thrown
        first ??= thrown
      }
    }
    throw first
  }

  #renderOnce(input: TemplateInput, form: MessageForm): string {
    const { bosToken = "", eosToken = "", variables, now, limits } = this.#options
    const data = {
      bos_token: bosToken,
      eos_token: eosToken,
      ...variables,
      ...input.variables,
      messages: toTemplateMessages(withTemplateIds(input.messages, this.#ids), form),
      ...(input.tools?.length ? { tools: toTemplateTools(input.tools) } : {}),
      add_generation_prompt: input.addGenerationPrompt ?? true,
    }
    return renderWithData(this.#tree, data, {
      ...(now === undefined ? {} : { now }),
      ...(limits === undefined ? {} : { limits }),
    })
  }
}

/** Whether a template could not take a conversation as it was, so that another form of it may do. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof TemplateError && thrown.code !== "TEMPLATE_LIMIT"
}

/** The changes that would change anything about this conversation. */
function possibleChanges(messages: readonly ChatMessage[]): Set<Adaptation> {
  const possible = new Set<Adaptation>()
  const most = mostCalls(messages)
  if (messages[0]?.role === "system") possible.add("system-in-user")
  if (withJoinedTurns(messages).length < messages.length) possible.add("turns-joined")
  if (most > 0) possible.add("arguments-as-text")
  if (most > 1) possible.add("one-call-per-message")
  return possible
}

function changed(messages: readonly ChatMessage[], adaptations: readonly Adaptation[]): readonly ChatMessage[] {
  return CHANGES.filter(([name]) => adaptations.includes(name)).reduce((given, [, change]) => change(given), messages)
}

/** What this conversation has beyond plain messages. */
function presentParts({ tools, messages }: TemplateInput): TextParts {
  return {
    tools: (tools?.length ?? 0) > 0,
    calls: mostCalls(messages) > 0,
    results: messages.some((message) => message.role === "tool"),
  }
}

/** What of it the template would drop. */
function missingParts(input: TemplateInput, drops: TemplateDrops): TextParts {
  const present = presentParts(input)
  return {
    tools: present.tools && drops.tools,
    calls: present.calls && (drops.calls || drops.pastCalls),
    results: present.results && drops.results,
  }
}

/** How many calls stand in one message at most. */
function mostCalls(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (most, message) => Math.max(most, message.role === "assistant" ? (message.toolCalls?.length ?? 0) : 0),
    0,
  )
}
