import { textOfSubject, type InferRequest } from "@toolwright/backends"

/** What a model was shown in one inference, in the parts that tests look at. */
export interface Shown {
  /** Which inference of this model it is, from 1. */
  readonly number: number
  /** The system prompt. */
  readonly system: string
  /** The first user message. */
  readonly user: string
  /** The last message. */
  readonly last: string
  /** What came back since the model's last reply: tool results, or the message in their place. */
  readonly result: string
  /** Names of the tools that were offered natively. */
  readonly tools: readonly string[]
  readonly messages: InferRequest["messages"]
  /** Everything, as it was sent. */
  readonly request: InferRequest
}

export function shownIn(request: InferRequest, number: number): Shown {
  const text = (subject: Parameters<typeof textOfSubject>[1]): string => textOfSubject(request.messages, subject)
  return {
    number,
    system: text("system"),
    user: text("user"),
    last: text("last"),
    result: text("result"),
    tools: (request.tools ?? []).map((tool) => tool.function.name),
    messages: request.messages,
    request,
  }
}
