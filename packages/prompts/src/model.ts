import type { JsonObject } from "@toolwright/toolbox"

/** One argument of a prompt. */
export interface PromptArgument {
  name: string
  required: boolean
  description: string
}

/** A prompt as its users see it. */
export interface PromptDefinition {
  name: string
  description: string
  arguments: PromptArgument[]
  tags: string[]
}

/** How placeholders are written: `{argument}` for declared arguments only, or Jinja. */
export type PromptEngine = "placeholder" | "jinja"

/** A prompt with what renders it. */
export interface Prompt extends PromptDefinition {
  readonly engine: PromptEngine
  readonly template: string
  /** The file it was read from, for messages. */
  readonly file?: string
}

/**
 * A rendered prompt, or why it could not be rendered. `messages` have the form of OpenAI's chat; `content` is their
 * text.
 */
export interface PromptResult {
  success: boolean
  messages: { role: "user"; content: string }[]
  content: string
  error: string | null
  metadata: JsonObject
}
