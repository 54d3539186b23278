import type { JsonObject } from "@toolwright/toolbox"
import type { ApiEvent } from "@toolwright/toolformat"
import type { BackendAbilities, InferRequest } from "../model/backend.ts"
import type { Pages } from "./address.ts"

/** How a kind of server is asked and answers: what a backend over HTTP needs beyond HTTP itself. */
export interface Protocol {
  /** Kind of the backend, e.g. `openai-compatible`. */
  readonly kind: string
  /** What speaks it, for messages: `an OpenAI-compatible server`. */
  readonly server: string
  readonly abilities: BackendAbilities
  /** The form of its own tool use; OpenAI's unless given. */
  readonly api?: "anthropic"
  readonly pages: Pages
  /** A stream is one JSON value on each line, where it is no event stream. */
  readonly lines?: true
  /** What `/tokenize` beside the API is asked for the tokens of a text; nothing where the server has no such page. */
  readonly tokensOf?: (text: string) => JsonObject
  /** What a request carries beyond its content type. */
  headers?(apiKey: string): Record<string, string>
  /** @throws ToolwrightError `CONFLICTING_CONSTRAINTS`, `CONSTRAINT_UNSUPPORTED`, or what the messages bring */
  body(request: InferRequest): JsonObject
  /** What of a request does not reach the model, by the names that OpenAI's API has for it. */
  leavesOut(request: InferRequest): string[]
  /** Reads one reply. */
  decoder(): ReplyDecoder
}

/** Reads the values of one reply, as they come. */
export interface ReplyDecoder {
  /** One value of a stream. */
  push(value: object): ApiEvent[]
  /** Whether nothing comes after this one. */
  isLast(value: object): boolean
  /** A reply that came as one value; nothing where it is no reply. */
  whole(value: object): ApiEvent[] | undefined
  end(): ApiEvent[]
}
