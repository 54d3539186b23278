import type { Backend } from "@toolwright/backends"
import { type Grounding, type GroundingRules, MAX_GROUNDING_TEXT } from "@toolwright/logits"
import type { JsonObject } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"

/**
 * Which arguments must come from the conversation where calls are held by a grammar. `auto` (the default): those that
 * the tools annotate, where the backend says that its model is small, none elsewhere. Rules of one's own, or a function
 * that makes them from what was said, count with every model; so do then the annotations `grounded` of the tools.
 */
export type GroundingSetting = "auto" | "off" | GroundingRules | ((text: string) => GroundingRules)

/** Rules that add nothing to what the tools say of their own arguments (the annotation `grounded`). */
export const ANNOTATED: GroundingRules = {}

/** The grounding of the next request; nothing where arguments are free. */
export function groundingOf(
  setting: GroundingSetting | undefined,
  backend: Backend,
  said: readonly string[],
  messages: readonly ChatMessage[],
): Grounding | undefined {
  if (setting === "off") return undefined
  if ((setting === undefined || setting === "auto") && backend.abilities.small !== true) return undefined
  const text = backend.groundingText?.(messages) ?? joinSaid(said)
  const rules =
    setting === undefined || setting === "auto" ? ANNOTATED : typeof setting === "function" ? setting(text) : setting
  return { text, rules }
}

/** Of one long text so much is kept, most of it from its beginning. */
const SHARE = { head: (MAX_GROUNDING_TEXT * 3) / 8, tail: MAX_GROUNDING_TEXT / 8 }

/** No span reaches from one text into the next. */
function joinSaid(said: readonly string[]): string {
  return said
    .map((text) =>
      text.length <= SHARE.head + SHARE.tail ? text : `${text.slice(0, SHARE.head)}\0${text.slice(-SHARE.tail)}`,
    )
    .join("\0")
}

/**
 * The texts in messages that were said by the user, returned by tools or given to them. Instructions and the model's
 * own words are not.
 */
export function saidIn(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role === "assistant") return (message.toolCalls ?? []).flatMap(({ arguments: args }) => textsOf(args))
    return message.role === "system" ? [] : [message.content]
  })
}

/** The strings and numbers in a call's arguments. */
export function textsOf(value: JsonObject | unknown): string[] {
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : []
}
