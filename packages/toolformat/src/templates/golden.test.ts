import { existsSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { fromOpenAIMessages } from "../api/index.ts"
import type { ChatMessage, OpenAITool } from "../model/message.ts"
import { createChatTemplate } from "./chat-template.ts"
import { TemplateError } from "./jinja/errors.ts"
import { parseTemplate } from "./jinja/parse-template.ts"
import { renderWithData } from "./jinja/render.ts"

interface Golden {
  messages_obj: Record<string, unknown>[]
  messages_str: Record<string, unknown>[]
  golden: {
    template: string
    tools: OpenAITool[]
    obj?: string
    str?: string
    obj_error?: string
    str_error?: string
  }[]
}

const folder = new URL("../../../../../shared/data/templates/", import.meta.url)
const present = existsSync(new URL("golden.json", folder))
const golden: Golden | undefined = present
  ? (JSON.parse(readFileSync(new URL("golden.json", folder), "utf8")) as Golden)
  : undefined
const cases = golden?.golden ?? []
const read = (template: string): string => readFileSync(new URL(template, folder), "utf8")

// The context in which the golden texts were rendered.
const now = (): Date => new Date(2026, 0, 1)
const variables = { enable_thinking: true, date_string: "26 Jul 2024" }

/**
 * Templates that Python renders in neither way nor do we, and why; those that Python fails on and we render are left
 * out.
 */
const REFUSED: Record<string, string> = {
  "CohereForAI-c4ai-command-r-plus-tool_use.jinja": "'dict object' has no attribute 'description'",
  "MiroThinker.jinja": "'tool' is undefined",
  "fireworks-ai-llama-3-firefunction-v2.jinja": "'functions' is undefined",
  "google-gemma-2-2b-it.jinja": "System role not supported",
  "llama-cpp-deepseek-r1.jinja": "Object of type generator is not JSON serializable",
  "vllm/tool_chat_template_granite_20b_fc.jinja": "Unexpected combination of role and message content",
}

if (!present) console.warn("The chat templates are not here (../shared/data/templates); their tests are skipped.")

describe.skipIf(!present)("official chat templates, against the text that Python renders", () => {
  const engine = (template: string, messages: unknown, tools: unknown): string =>
    renderWithData(
      parseTemplate(read(template)),
      { messages, tools, add_generation_prompt: true, bos_token: "<BOS>", eos_token: "<EOS>", ...variables },
      { now },
    )

  test("all sets are there", () => {
    const rendered = (prefix: RegExp): number =>
      cases.filter(({ template, obj }) => prefix.test(template) && obj !== undefined).length
    expect([rendered(/^[^/]+$/), rendered(/^vllm\//), rendered(/^ollama\//)]).toEqual([60, 26, 8])
  })

  test.each(
    cases.flatMap((each) => [
      { ...each, form: "obj" as const },
      { ...each, form: "str" as const },
    ]),
  )("$template ($form)", ({ template, tools, form, ...texts }) => {
    const messages = golden![`messages_${form}`]
    const text = texts[form]
    if (text !== undefined) expect(engine(template, messages, tools)).toBe(text)
    else if (REFUSED[template] !== undefined) {
      expect(() => engine(template, messages, tools)).toThrow(TemplateError)
      expect(() => engine(template, messages, tools)).toThrow(REFUSED[template])
    }
  })

  test.each(cases.filter(({ obj }) => obj !== undefined))(
    "$template from our own messages",
    ({ template, tools, obj }) => {
      for (const messages of [golden!.messages_obj, golden!.messages_str]) {
        const chat: ChatMessage[] = fromOpenAIMessages(messages)
        expect(
          createChatTemplate(read(template), {
            bosToken: "<BOS>",
            eosToken: "<EOS>",
            now,
            variables,
            ids: "keep",
            fallback: "none",
          }).render({ messages: chat, tools }),
        ).toBe(obj)
      }
    },
  )
})
