import { saysNoConstraint } from "@toolwright/logits"
import { ToolwrightError } from "@toolwright/toolbox"

/** What a failure's message names, so that its reader knows which setting to change. */
export interface FailureContext {
  /** Without credentials, see {@link withoutCredentials}. */
  url: string
  modelName: string
  /** What should be there, e.g. `an OpenAI-compatible server`. */
  server: string
  /** The setting that holds the key, e.g. `model.apiKey (environment: TOOLWRIGHT_API_KEY)`. */
  keySetting: string
  /** The setting that holds the address. */
  urlSetting: string
  /** What was sent to the server and stands in no message, whatever it quotes. */
  secrets?: readonly string[]
  /** The models that the server said it has. */
  models?: readonly string[]
  /** The page that was asked in place of the one for replies, e.g. `embeddings`: few servers have it for every model. */
  page?: string
}

/** What a server says of a failure; what it leaves out is empty. */
export interface ServerWords {
  message: string
  /** Its own code or type, e.g. `unsupported_parameter`. */
  code: string
  /** The field of the request that it is about, e.g. `tools`. */
  param: string
}

const MOST_NAMED = 8

/** Which models there are, where the server has said so and this is none of them. */
function otherModels({ models = [], modelName }: FailureContext): string | undefined {
  if (models.length === 0 || models.includes(modelName)) return undefined
  const more = models.length > MOST_NAMED ? `, and ${models.length - MOST_NAMED} more` : ""
  return (
    `The server has ${models.slice(0, MOST_NAMED).join(", ")}${more}: name one of these, or give it the model ` +
    "that you want."
  )
}

/** The address of an API of OpenAI's form, and what inference is behind it. */
const VERSIONED_PAGE = /^(https?:\/\/[^/]+)(\/.*?)??\/(?:chat\/completions|responses)$/

/** The address that is probably meant, where it lacks the `/v1` that such APIs begin with. */
function missingVersion({ message }: Pick<ServerWords, "message">, context: FailureContext): string | undefined {
  const [, host, path = ""] = VERSIONED_PAGE.exec(context.url) ?? []
  if (host === undefined || /\/v\d\w*(\/|$)/.test(path) || message.includes(context.modelName)) return undefined
  return `Such an API begins in /v1 on most servers: set ${context.urlSetting} to ${host}${path}/v1.`
}

/** The failure that an HTTP status means. `said` is what the server says itself. */
export function failureOfStatus(status: number, said: ServerWords, context: FailureContext): ToolwrightError {
  const { url, modelName, keySetting, urlSetting } = context
  const told = said.message === "" ? "" : ` It says: ${said.message}`
  if (refusesConstraint(status, said)) {
    return new ToolwrightError(
      "CONSTRAINT_UNSUPPORTED",
      `The model server at ${url} does not take what the request holds the reply with (HTTP ${status}).${told}`,
      { hint: "Send the request without it, or start the server with what it needs for it." },
    )
  }
  if (status === 401 || status === 403) {
    return new ToolwrightError(
      "MODEL_UNAUTHORIZED",
      `The model server at ${url} refused the key (HTTP ${status}).${told}`,
      {
        hint: `Set the right key in ${keySetting}.`,
      },
    )
  }
  const elsewhere = status === 404 || status === 405 ? missingVersion(said, context) : undefined
  if (elsewhere !== undefined) {
    return new ToolwrightError(
      "MODEL_NOT_FOUND",
      `The model server at ${url} has no such page (HTTP ${status}).${told}`,
      { hint: elsewhere },
    )
  }
  if (status === 404 && context.page !== undefined) return noSuchPage(context.page, told, context)
  if (status === 404) {
    return new ToolwrightError(
      "MODEL_NOT_FOUND",
      `The model server at ${url} knows no model '${modelName}' there (HTTP 404).${told}`,
      {
        hint:
          otherModels(context) ??
          `Check the model's name, and that ${urlSetting} ends where the server's API begins (mostly in /v1).`,
      },
    )
  }
  if (status >= 500) {
    return new ToolwrightError("MODEL_SERVER_ERROR", `The model server at ${url} failed (HTTP ${status}).${told}`, {
      hint: "The server's own log says why.",
    })
  }
  if (status === 408) return timedOut(`The model server at ${url} gave up waiting (HTTP 408).${told}`)
  if (status === 429) {
    return new ToolwrightError(
      "MODEL_RATE_LIMITED",
      `The model server at ${url} takes no more requests now (HTTP 429).${told}`,
      {
        hint: "Wait, or raise the limit at the server.",
      },
    )
  }
  return new ToolwrightError(
    "MODEL_REQUEST_REJECTED",
    `The model server at ${url} rejected the request (HTTP ${status}).${told}`,
  )
}

/** Of a page beside that for replies: it or its model may be missing, and no setting of ours puts that right. */
function noSuchPage(page: string, told: string, context: FailureContext): ToolwrightError {
  return new ToolwrightError(
    "MODEL_NOT_FOUND",
    `The model server at ${context.url} has no ${page}, or not of a model '${context.modelName}' (HTTP 404).${told}`,
    {
      hint:
        otherModels(context) ??
        `Ask for a model that this server has for ${page}, or give the client an address of its own for them.`,
    },
  )
}

/** Fields of requests that hold a reply to something. */
const CONSTRAINT_FIELDS = new RegExp(
  `^(${[
    "tools|tool_choice|functions|function_call|response_format|grammar|ebnf",
    "structural_tag|structured_outputs|guided_(grammar|json)|json_schema",
  ].join("|")})$`,
)
/** What servers call a field that they do not know. */
const UNKNOWN_FIELD = /unsupported|unknown|unrecogni[sz]ed|extra_forbidden|not_supported|unexpected/i

/**
 * Whether a server says that it takes no tools, grammar or schema: by the field that it names, or in words that mean
 * nothing else. A server that failed for another reason is not asked in another way.
 */
function refusesConstraint(status: number, { message, code, param }: ServerWords): boolean {
  if (status === 401 || status === 403 || status === 408 || status === 429) return false
  if (status < 500 && CONSTRAINT_FIELDS.test(param) && UNKNOWN_FIELD.test(code)) return true
  return saysNoConstraint(message)
}

/** No connection: unknown host, refused, reset, or broken TLS. */
export function unreachable(context: FailureContext, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError("MODEL_UNREACHABLE", `No model server answers at ${context.url}: ${reason}.`, {
    cause,
    hint: `Start the server, or set its address in ${context.urlSetting}.`,
  })
}

/** A reply that is not what the protocol says. */
export function badReply(context: FailureContext, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError(
    "MODEL_BAD_REPLY",
    `The reply of the model server at ${context.url} cannot be read: ${reason}.`,
    {
      cause,
      hint:
        missingVersion({ message: "" }, context) ??
        `Check that ${context.urlSetting} is the address of ${context.server} and not of something else.`,
    },
  )
}

/** More than a reply can hold. */
export function replyTooLong(context: FailureContext, held: string): ToolwrightError {
  return new ToolwrightError(
    "REPLY_TOO_LONG",
    `The reply of the model server at ${context.url} has ${held} and was given up.`,
    {
      hint: "Limit it with the setting model.maxTokens.",
    },
  )
}

export function timedOut(message: string): ToolwrightError {
  return new ToolwrightError("MODEL_TIMEOUT", message, { hint: "A longer time can be set, or a smaller model used." })
}

/** Two constraints in one request break servers; see `InferRequest`. */
export function conflictingConstraints(given: readonly string[]): ToolwrightError {
  return new ToolwrightError(
    "CONFLICTING_CONSTRAINTS",
    `One request may hold one constraint, but this one has ${given.join(" and ")}.`,
    {
      hint: "Give native tools, or a grammar, or a JSON Schema.",
    },
  )
}

/** The parts of a request of which there may be one: tools, grammar, JSON Schema. */
export function constraintsOf(request: {
  tools?: readonly unknown[]
  grammar?: string
  structuralTag?: object
  jsonSchema?: object
}): string[] {
  return [
    ...(request.tools !== undefined && request.tools.length > 0 ? ["native tools"] : []),
    ...(request.grammar === undefined ? [] : ["a grammar"]),
    ...(request.structuralTag === undefined ? [] : ["structural tags"]),
    ...(request.jsonSchema === undefined ? [] : ["a JSON Schema"]),
  ]
}
