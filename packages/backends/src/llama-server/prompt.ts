import type { JsonObject } from "@toolwright/toolbox"
import { createChatTemplate, refuseMedia, type ChatMessage } from "@toolwright/toolformat"
import { renderChatMl } from "../llama/backend.ts"
import type { InferRequest } from "../model/backend.ts"

/** A chat template, and what it may print of the tokenizer. */
export interface PromptTemplate {
  /** In Jinja. */
  source: string
  bosToken?: string
  eosToken?: string
  /** What stands for a picture in a prompt; llama.cpp's usual mark unless given. */
  mediaMark?: string
}

/** A prompt, with the pictures in it where there are any. */
export type Prompt = string | { prompt_string: string; multimodal_data: string[] }

/** Writes prompts by a template; ChatML where there is none. */
export function createPromptWriter(template: PromptTemplate | undefined): { write(request: InferRequest): Prompt } {
  const { source, bosToken = "", eosToken = "", mediaMark = "<__media__>" } = template ?? {}
  const chat = source === undefined ? undefined : createChatTemplate(source, { bosToken, eosToken })
  return {
    write({ messages, extraBody }) {
      const pictures: string[] = []
      const written = messages.map((message) => withMarks(message, mediaMark, pictures))
      const text = chat?.render({ messages: written, variables: variablesOf(extraBody) }) ?? renderChatMl(written)
      // The server writes that token itself.
      const prompt = bosToken !== "" && text.startsWith(bosToken) ? text.slice(bosToken.length) : text
      return pictures.length === 0 ? prompt : { prompt_string: prompt, multimodal_data: pictures }
    },
  }
}

/** @throws ToolwrightError `UNSUPPORTED_MEDIA` for what is no picture, or stands elsewhere */
function withMarks(message: ChatMessage, mark: string, pictures: string[]): ChatMessage {
  if (message.role !== "user" || message.media === undefined) return message
  const { media, ...rest } = message
  const marks = media.map((part) => {
    if (part.type !== "image" || "url" in part) return refuseMedia("llama.cpp's completion", part)
    pictures.push(part.base64)
    return mark
  })
  return { ...rest, content: [...marks, rest.content].join("\n") }
}

function variablesOf(extraBody: JsonObject = {}): JsonObject {
  const { chat_template_kwargs: variables, reasoning_effort: effort } = extraBody
  return {
    ...(typeof variables === "object" && variables !== null ? variables : {}),
    ...(typeof effort === "string" ? { reasoning_effort: effort } : {}),
  }
}
