import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { ChatMessage } from "../model/message.ts"
import { toOpenAITools } from "../api/index.ts"
import { createChatTemplate, type ChatTemplate, type TemplateTool } from "../templates/index.ts"
import { parseTemplate } from "../templates/jinja/parse-template.ts"
import { renderWithData } from "../templates/jinja/render.ts"
import { plainTools, WORDS } from "./probes.ts"
import { marksIn, sameUpTo } from "./text.ts"

/** What of the tokenizer a template may print, and its own variables. */
export interface TemplateSettings {
  bosToken?: string
  eosToken?: string
  variables?: JsonObject
}

/** What a template shows of a reply. */
export interface ShownReply {
  /** What the model is shown to have written, from where its turn begins to the mark that ends it. */
  text: string
  /** What had to be changed so that the template takes it. */
  adaptations: readonly string[]
}

const USER: ChatMessage = { role: "user", content: WORDS.user }

/** A template, and what it shows of the conversations that it is probed with. */
export interface Renderings {
  /** What the model is shown to have written when it made these calls; undefined where they cannot be seen. */
  reply(calls: readonly ToolCall[], said?: string): ShownReply | undefined
  /** The whole prompt of a conversation; undefined where the template refuses it. */
  prompt(input: PromptInput): string | undefined
  /** The same with what the model thought in every field in which templates look for it. */
  thinking(messages: readonly JsonObject[], variables?: JsonObject, answer?: boolean): string | undefined
  /** What ends a turn of plain text, as it stands after the text. */
  readonly turnEnd: string
  /** What stands between a turn of plain text and the words of the user's next one. */
  readonly nextTurn: string
  /** What stands between the user's words and the answer. */
  readonly answerStart: string
  /** The last reason for which the template refused something. */
  readonly refusal: string | undefined
}

export interface PromptInput {
  messages: readonly ChatMessage[]
  tools?: readonly TemplateTool[]
  /** Whether the prompt ends where the assistant's answer begins; it does unless this is false. */
  answer?: boolean
}

/** Ids in the form that a template may want them, tried one after the other. */
const ID_FORMS = [undefined, "kimi"] as const

/** @throws TemplateError `TEMPLATE_SYNTAX` */
export function renderingsOf(source: string, settings: TemplateSettings): Renderings {
  const options = { fallback: "none", ...settings, now: () => new Date(2026, 0, 1) } as const
  const template = createChatTemplate(source, options)
  const tree = parseTemplate(source)
  const tools = toOpenAITools(plainTools())
  let refusal: string | undefined

  const attempt = <Result>(make: () => Result): Result | undefined => {
    try {
      return make()
    } catch (thrown) {
      refusal = thrown instanceof Error ? thrown.message : String(thrown)
      return undefined
    }
  }
  const prompt = ({ messages, tools: offered, answer = true }: PromptInput): string | undefined =>
    attempt(() =>
      template.render({ messages, addGenerationPrompt: answer, ...(offered === undefined ? {} : { tools: offered }) }),
    )

  const { opened, beforeSpoken, turnEnd, nextTurn } = aroundWords(prompt, tools)
  const ends = [...marksIn(turnEnd), ...marksIn(nextTurn)]
  function shown(chosen: ChatTemplate, calls: readonly ToolCall[], said: string): ShownReply | undefined {
    const messages: ChatMessage[] = [USER, { role: "assistant", content: said, toolCalls: calls }]
    const rendered = attempt(() => chosen.renderWithReport({ messages, tools, addGenerationPrompt: false }))
    if (rendered === undefined) return undefined
    const { text, adaptations } = rendered
    if (adaptations.includes("one-call-per-message") && calls.length > 1) return undefined
    const start = Math.max(sameUpTo(text, opened), sameUpTo(text, beforeSpoken))
    const reply = withoutTurnEnd(text.slice(start), turnEnd, ends)
    return calls.every(({ name }) => reply.includes(name)) ? { text: reply, adaptations } : undefined
  }

  const forms = ID_FORMS.map((ids) => (ids === undefined ? template : createChatTemplate(source, { ...options, ids })))
  return {
    reply(calls, said = "") {
      for (const chosen of forms) {
        const found = shown(chosen, calls, said)
        if (found !== undefined) return found
      }
      return undefined
    },
    prompt,
    thinking: (messages, variables = {}, answer = false) => {
      const data = { ...rawData(settings), ...variables, messages, tools, add_generation_prompt: answer }
      return attempt(() => renderWithData(tree, data, { now: options.now }))
    },
    turnEnd,
    nextTurn,
    answerStart: opened.split(WORDS.user).at(-1) ?? "",
    get refusal() {
      return refusal
    },
  }
}

/** A reply without what ends its turn, as often as that stands there. */
function withoutTurnEnd(text: string, turnEnd: string, ends: readonly string[]): string {
  let rest = text.endsWith(turnEnd) ? text.slice(0, text.length - turnEnd.length) : text
  for (;;) {
    const trimmed = rest.trimEnd()
    const end = ends.find((mark) => trimmed.endsWith(mark))
    if (end === undefined) return rest
    rest = trimmed.slice(0, -end.length)
  }
}

/** What a template shows around plain words, which tells a reply's own text from its turn. */
interface Around {
  opened: string
  beforeSpoken: string
  turnEnd: string
  nextTurn: string
}

function aroundWords(prompt: Renderings["prompt"], tools: readonly TemplateTool[]): Around {
  const said: ChatMessage = { role: "assistant", content: WORDS.said }
  const opened = prompt({ messages: [USER], tools }) ?? ""
  const spoken = prompt({ messages: [USER, said], tools, answer: false }) ?? ""
  const next = prompt({ messages: [USER, said, { role: "user", content: WORDS.result }], tools })
  const nextTurn = next?.split(WORDS.said).at(-1)?.split(WORDS.result)[0] ?? ""
  const at = spoken.lastIndexOf(WORDS.said)
  if (at < 0) return { opened, nextTurn, beforeSpoken: spoken, turnEnd: "" }
  return { opened, nextTurn, beforeSpoken: spoken.slice(0, at), turnEnd: spoken.slice(at + WORDS.said.length) }
}

/** What a template is rendered with beside the conversation. */
function rawData({ bosToken = "", eosToken = "", variables }: TemplateSettings): JsonObject {
  return { bos_token: bosToken, eos_token: eosToken, ...variables }
}
