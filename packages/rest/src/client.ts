import {
  fromServiceResult,
  messageOf,
  plainName,
  plainText,
  schemaFault,
  sizeOf,
  ToolwrightError,
  type JsonObject,
  type JsonSchema,
  type ServiceResult,
  type ToolCategory,
  type ToolDefinition,
  type ToolEffects,
  type ToolResult,
  type ToolSource,
  failure,
  TOOL_CATEGORIES,
} from "@toolwright/toolbox"
import { MOST_BYTES, overFetch, overHttp, type Asked, type Exchange } from "./exchange.ts"

/** Settings of a {@link ToolsApiClient}. */
export interface ToolsApiClientOptions {
  /** Where the service answers, e.g. `http://localhost:8001`. */
  baseUrl: string
  token?: string
  /** How the source is called in messages and records; the address's host unless given. */
  name?: string
  /** Longest time for listing, in milliseconds; 10 seconds unless given. Calls have the limits of their tools. */
  listTimeoutMs?: number
  /** What requests are sent with, in place of Node's own client. */
  fetch?: typeof fetch
}

/** A tool as the service lists it. */
interface ListedTool {
  name: string
  description: string
  parameters: JsonSchema
  tags: string[]
  category?: string
  title?: string
  effects?: ToolEffects
  output_schema?: JsonSchema
}

/** A prompt as the service lists it. */
export interface ListedPrompt {
  name: string
  description: string
  arguments: { name: string; required: boolean; description: string }[]
  tags: string[]
}

/** A rendered prompt, as the service answers it. */
export interface RenderedPrompt {
  success: boolean
  messages: { role: string; content: string }[]
  error: string | null
  metadata: JsonObject
}

/**
 * A REST tools service as a source of tools. Its definitions call the service when they run; a service that is down
 * gives failed results (`SOURCE_UNAVAILABLE`), never exceptions, so a run goes on.
 */
export class ToolsApiClient implements ToolSource {
  readonly provenance: { kind: "rest"; name: string }
  readonly #baseUrl: string
  readonly #headers: Record<string, string>
  readonly #listTimeoutMs: number
  readonly #exchange: Exchange

  /** @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none */
  constructor(options: ToolsApiClientOptions) {
    const url = URL.parse(options.baseUrl)
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new ToolwrightError("INVALID_CONFIGURATION", `'${options.baseUrl}' is no address of a tools service.`, {
        hint: "It looks like http://localhost:8001.",
      })
    }
    this.#baseUrl = url.href.replace(/\/+$/, "")
    this.#headers = {
      "content-type": "application/json",
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    }
    this.#listTimeoutMs = options.listTimeoutMs ?? 10_000
    this.#exchange = options.fetch === undefined ? overHttp : overFetch(options.fetch)
    this.provenance = { kind: "rest", name: options.name ?? url.host }
  }

  /**
   * The tools as definitions. What a service says is text of others: names and descriptions are plain, and what is no
   * description of a tool is left out.
   *
   * @throws ToolwrightError `SOURCE_UNAVAILABLE`, `SOURCE_UNAUTHORIZED`, `SOURCE_BAD_REPLY`
   */
  async list(): Promise<ToolDefinition[]> {
    const listed: unknown = await this.listTools()
    if (!Array.isArray(listed))
      throw new ToolwrightError(
        "SOURCE_BAD_REPLY",
        `The tools service ${this.#baseUrl} answered GET /tools/ with no list of tools.`,
        { hint: 'It is an array of {"name": …, "description": …, "parameters": {…}}, by itself.' },
      )
    const definitions = listed
      .slice(0, MOST_TOOLS)
      .filter(isTool)
      .map((tool) => this.#definition(tool))
    return [...new Map(definitions.map((tool) => [tool.name, tool])).values()]
  }

  listTools(): Promise<ListedTool[]> {
    return this.#get("/tools/")
  }

  listPrompts(): Promise<ListedPrompt[]> {
    return this.#get("/prompts/")
  }

  renderPrompt(name: string, args: JsonObject = {}): Promise<RenderedPrompt> {
    return this.#send(`/prompts/${encodeURIComponent(name)}`, {
      method: "POST",
      body: JSON.stringify(args),
      signal: AbortSignal.timeout(this.#listTimeoutMs),
    }) as Promise<RenderedPrompt>
  }

  /** Calls a tool of the service. Never throws. */
  async executeTool(
    name: string,
    args: JsonObject = {},
    options: { signal?: AbortSignal; idempotencyKey?: string } = {},
  ): Promise<ToolResult> {
    try {
      const body = await this.#send(`/tools/${encodeURIComponent(name)}`, {
        method: "POST",
        body: JSON.stringify(args),
        ...keyed(options.idempotencyKey),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      })
      return plainFailure(fromServiceResult(this.#resultIn(body, name)))
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown)) return failure({ code: "SOURCE_BAD_REPLY", message: messageOf(thrown) })
      const hint = thrown.hint === undefined ? {} : { hint: thrown.hint }
      return failure({
        code: thrown.code,
        message: thrown.message,
        ...hint,
        retryable: thrown.code === "SOURCE_UNAVAILABLE",
      })
    }
  }

  async close(): Promise<void> {}

  #definition(listed: ListedTool): ToolDefinition {
    const category = (TOOL_CATEGORIES as readonly string[]).includes(listed.category ?? "")
      ? (listed.category as ToolCategory)
      : "utility"
    return {
      name: plainName(listed.name),
      description: plainText(listed.description),
      category,
      optionality: "optional",
      parameters: listed.parameters,
      tags: listed.tags ?? [],
      provenance: this.provenance,
      ...(typeof listed.title === "string" ? { title: plainText(listed.title, 200) } : {}),
      ...(listed.effects === undefined ? {} : { effects: listed.effects }),
      ...(listed.output_schema === undefined ? {} : { outputSchema: listed.output_schema }),
      // A call that only reads may be made again as it is: no answer has to be kept for it.
      handler: (args, { signal, idempotencyKey }) =>
        this.executeTool(listed.name, args, {
          signal,
          ...(listed.effects?.readOnly === true ? {} : { idempotencyKey }),
        }),
    }
  }

  /** A body that says neither whether the call succeeded nor what came of it is no result, and no silent success. */
  #resultIn(body: unknown, name: string): ServiceResult {
    const { success, result } = (body ?? {}) as Partial<ServiceResult>
    if (success === false || (success === true && result !== undefined)) return body as ServiceResult
    const lacks = success === true ? "'result'" : "'success'"
    throw new ToolwrightError(
      "SOURCE_BAD_REPLY",
      `The tools service ${this.#baseUrl} answered POST /tools/${name} without ${lacks}.`,
      { hint: ANSWER },
    )
  }

  #get<Value>(path: string): Promise<Value> {
    return this.#send(path, { method: "GET", signal: AbortSignal.timeout(this.#listTimeoutMs) }) as Promise<Value>
  }

  async #send(path: string, asked: Omit<Asked, "headers"> & Partial<Pick<Asked, "headers">>): Promise<unknown> {
    const { status, text } = await this.#answer(path, asked)
    const ok = status >= 200 && status < 300
    const body = parse(text)
    const isTooDeep = sizeOf(body, MOST_BYTES) > MOST_BYTES
    if (!isTooDeep && body !== undefined && (ok || isOwnResult(body))) return body
    if (isTooDeep || ok) {
      const what = isTooDeep ? "JSON that is nested too deeply" : "something that is no JSON"
      throw new ToolwrightError("SOURCE_BAD_REPLY", `The tools service ${this.#baseUrl} answered with ${what}.`)
    }
    throw this.#refusal(status, body)
  }

  async #answer(
    path: string,
    asked: Omit<Asked, "headers"> & Partial<Pick<Asked, "headers">>,
  ): Promise<{ status: number; text: string }> {
    try {
      const headers = asked.headers === undefined ? this.#headers : { ...this.#headers, ...asked.headers }
      return await this.#exchange(this.#baseUrl + path, { ...asked, headers })
    } catch (cause) {
      if (ToolwrightError.isInstance(cause)) throw cause
      throw new ToolwrightError(
        "SOURCE_UNAVAILABLE",
        `The tools service ${this.#baseUrl} does not answer: ${messageOf((cause as Error).cause ?? cause)}`,
        { cause, hint: "Start it, or take it out of the configuration." },
      )
    }
  }

  /** What the service says of a call that it does not take. */
  #refusal(status: number, body: unknown): ToolwrightError {
    const { error, detail } = (body ?? {}) as {
      error?: { code?: unknown; message?: unknown; hint?: unknown } | null
      detail?: unknown
    }
    const code = status === 401 || status === 403 ? "SOURCE_UNAUTHORIZED" : codeOf(error?.code)
    const said = [error?.message, detail].find((text) => typeof text === "string")
    return new ToolwrightError(
      code,
      plainText(said ?? `The tools service ${this.#baseUrl} answered with status ${status}.`),
      typeof error?.hint === "string" ? { hint: plainText(error.hint) } : {},
    )
  }
}

/** A code of others may stand in figures and logs, so it has to look like one. */
function codeOf(code: unknown): string {
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : "SOURCE_FAILED"
}

/** What a service says of a failure is text of others, as its descriptions are. */
function plainFailure(result: ToolResult): ToolResult {
  if (result.success) return result
  const { code, message, hint, ...rest } = result.error
  const said = { message: plainText(message), ...(hint === undefined ? {} : { hint: plainText(hint) }) }
  return { ...result, error: { ...rest, code: codeOf(code), ...said } }
}

/** What a service answers a call with. */
const ANSWER =
  'An answer is {"success": true, "result": …}, with null where there is none, or {"success": false, "error": "…"}.'

/** Tools of a service that are taken, and characters of one. */
const MOST_TOOLS = 5000
const MOST_CHARACTERS = 256 * 1024

function isTool(listed: unknown): listed is ListedTool {
  if (typeof listed !== "object" || listed === null) return false
  const { name, description, parameters, tags = [] } = listed as Partial<ListedTool>
  return (
    typeof name === "string" &&
    name !== "" &&
    typeof description === "string" &&
    typeof parameters === "object" &&
    parameters !== null &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === "string") &&
    sizeOf(listed, MOST_CHARACTERS) <= MOST_CHARACTERS &&
    schemaFault(parameters) === undefined
  )
}

/**
 * Whether a body that came with an error's status says, as this project's own service does, which failed result it is.
 */
function isOwnResult(body: unknown): boolean {
  return (body as { metadata?: { toolwright?: { error?: unknown } } } | null)?.metadata?.toolwright?.error !== undefined
}

function keyed(key: string | undefined): { headers?: Record<string, string> } {
  return key === undefined ? {} : { headers: { "idempotency-key": key } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
