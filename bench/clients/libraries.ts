import { CITY, PICTURE, type Ask, type Seen } from "./scenarios.ts"

/** Loads a package from the folder of the benchmark. */
export type Load = <Module>(specifier: string) => Promise<Module>

/** A client library, as its users call it. */
export interface Library {
  name: string
  wire: string
  /** Its package, whose version is told. */
  package: string
  /** What it makes of some scenarios whatever server it asks, in words. */
  own?: Readonly<Record<string, string>>
  open(load: Load): Promise<(ask: Ask) => Promise<Seen>>
}

/* oxlint-disable typescript/no-explicit-any -- the clients are installed beside, their types are not */
type Any = any

const DESCRIPTION = "The weather of a city"
const PICTURE_URL = `data:image/png;base64,${PICTURE}`
const OPTIONS = { apiKey: "none", maxRetries: 0 }

/** Seen with a bare server too. */
const KEPT = "keeps the connection of an aborted stream, with a bare server too"

export const LIBRARIES: readonly Library[] = [
  { name: "openai", wire: "Chat", package: "openai", open: openaiChat },
  { name: "openai", wire: "Responses", package: "openai", open: openaiResponses },
  { name: "@anthropic-ai/sdk", wire: "Messages", package: "@anthropic-ai/sdk", open: anthropic },
  { name: "ollama", wire: "Ollama", package: "ollama", open: ollama },
  aiSdk("ai-7", "@ai-sdk/openai-compatible", "Chat", ({ createOpenAICompatible }, url) =>
    createOpenAICompatible({ name: "own", baseURL: `${url}/v1`, supportsStructuredOutputs: true })("any"),
  ),
  aiSdk("ai-7", "@ai-sdk/openai", "Responses", ({ createOpenAI }, url) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" })("any"),
  ),
  aiSdk("ai-7", "@ai-sdk/anthropic", "Messages", ({ createAnthropic }, url) =>
    createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("claude-sonnet-4-5"),
  ),
  aiSdk("ai-6", "openai-provider-3", "Responses", ({ createOpenAI }, url) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" })("any"),
  ),
  { name: "LangChain", wire: "Chat", package: "@langchain/openai", open: langchain },
  { name: "LlamaIndex", wire: "Chat", package: "@llamaindex/openai", own: { abort: KEPT }, open: llamaIndex },
  { name: "Mastra", wire: "Chat", package: "@mastra/core", own: { abort: KEPT }, open: mastra },
  {
    name: "OpenAI Agents",
    wire: "Responses",
    package: "@openai/agents",
    own: { "cut off": "throws where an answer is incomplete, whatever it holds" },
    open: agents,
  },
]

async function openaiChat(load: Load) {
  const { default: OpenAI } = await load<Any>("openai")
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const client = new OpenAI({ ...OPTIONS, baseURL: `${url}/v1` })
    const picture = { type: "image_url", image_url: { url: PICTURE_URL } }
    const body = {
      model: "any",
      messages: [{ role: "user", content: image ? [{ type: "text", text: prompt }, picture] : prompt }],
      ...(tools
        ? {
            tools: [
              { type: "function", function: { name: "get_weather", description: DESCRIPTION, parameters: CITY } },
            ],
          }
        : {}),
      ...(schema ? { response_format: { type: "json_schema", json_schema: { name: "city", schema: CITY } } } : {}),
    }
    const run = client.chat.completions
    const streaming = stream ? run.stream(body, { signal }) : undefined
    streaming?.once("chunk", () => begun?.())
    const { choices } = await (streaming?.finalChatCompletion() ?? run.create(body))
    const { message, finish_reason: finish } = choices[0]
    const calls = (message.tool_calls ?? []).map((call: Any) => ({
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments),
    }))
    return { text: message.content ?? "", calls, finish }
  }
}

async function openaiResponses(load: Load) {
  const { default: OpenAI } = await load<Any>("openai")
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const client = new OpenAI({ ...OPTIONS, baseURL: `${url}/v1` })
    const content = [
      { type: "input_text", text: prompt },
      ...(image ? [{ type: "input_image", image_url: PICTURE_URL }] : []),
    ]
    const body = {
      model: "any",
      input: [{ role: "user", content }],
      ...(tools
        ? {
            tools: [
              { type: "function", name: "get_weather", description: DESCRIPTION, parameters: CITY, strict: false },
            ],
          }
        : {}),
      ...(schema ? { text: { format: { type: "json_schema", name: "city", schema: CITY } } } : {}),
    }
    const streaming = stream ? client.responses.stream(body, { signal }) : undefined
    streaming?.once("event", () => begun?.())
    const response = await (streaming?.finalResponse() ?? client.responses.create(body))
    const calls = response.output.filter(({ type }: Any) => type === "function_call")
    return {
      text: response.output_text,
      calls: calls.map((call: Any) => ({ name: call.name, arguments: JSON.parse(call.arguments) })),
      finish: response.incomplete_details?.reason ?? response.status,
    }
  }
}

async function anthropic(load: Load) {
  const { default: Anthropic } = await load<Any>("@anthropic-ai/sdk")
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const client = new Anthropic({ ...OPTIONS, baseURL: url })
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } }
    const body = {
      model: "any",
      max_tokens: 1000,
      messages: [{ role: "user", content: [{ type: "text", text: prompt }, ...(image ? [picture] : [])] }],
      ...(tools ? { tools: [{ name: "get_weather", description: DESCRIPTION, input_schema: CITY }] } : {}),
      ...(schema ? { output_config: { format: { type: "json_schema", schema: CITY } } } : {}),
    }
    const streaming = stream ? client.messages.stream(body, { signal }) : undefined
    streaming?.once("streamEvent", () => begun?.())
    const message = await (streaming?.finalMessage() ?? client.messages.create(body))
    const of = (type: string) => message.content.filter((block: Any) => block.type === type)
    return {
      text: of("text")
        .map(({ text }: Any) => text)
        .join(""),
      calls: of("tool_use").map(({ name, input }: Any) => ({ name, arguments: input })),
      finish: message.stop_reason,
    }
  }
}

async function ollama(load: Load) {
  const { Ollama } = await load<Any>("ollama")
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const client = new Ollama({ host: url })
    const body = {
      model: "any",
      messages: [{ role: "user", content: prompt, ...(image ? { images: [PICTURE] } : {}) }],
      ...(tools
        ? {
            tools: [
              { type: "function", function: { name: "get_weather", description: DESCRIPTION, parameters: CITY } },
            ],
          }
        : {}),
      ...(schema ? { format: CITY } : {}),
    }
    const parts = stream ? await client.chat({ ...body, stream: true }) : [await client.chat(body)]
    signal?.addEventListener("abort", () => parts.abort())
    const seen: Seen = { text: "", calls: [], finish: "" }
    for await (const { message, done_reason: finish } of parts) {
      begun?.()
      seen.text += message.content
      seen.finish = finish ?? seen.finish
      for (const { function: body } of message.tool_calls ?? [])
        seen.calls.push({ name: body.name, arguments: body.arguments })
    }
    return seen
  }
}

/** The AI SDK over one of its providers. */
function aiSdk(
  core: string,
  provider: string,
  wire: string,
  modelOf: (provider: Any, url: string) => unknown,
): Library {
  const name = `${core === "ai-6" ? "AI SDK 6" : "AI SDK 7"}, ${core === "ai-6" ? "@ai-sdk/openai" : provider}`
  const own = core === "ai-7" ? { own: { abort: KEPT } } : {}
  return { name, wire, package: core, ...own, open: (load) => openAiSdk(load, core, provider, modelOf) }
}

async function openAiSdk(load: Load, core: string, provider: string, modelOf: (provider: Any, url: string) => unknown) {
  const ai = await load<Any>(core)
  const made = await load<Any>(provider)
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const picture = { type: "image", image: PICTURE, mediaType: "image/png" }
    const settings = {
      model: modelOf(made, url),
      maxRetries: 0,
      abortSignal: signal,
      messages: [{ role: "user", content: [{ type: "text", text: prompt }, ...(image ? [picture] : [])] }],
      ...(tools
        ? { tools: { get_weather: ai.tool({ description: DESCRIPTION, inputSchema: ai.jsonSchema(CITY) }) } }
        : {}),
      ...(schema ? { output: ai.Output.object({ schema: ai.jsonSchema(CITY) }) } : {}),
    }
    if (!stream) return seenBy(await ai.generateText(settings))
    let failure: unknown
    const streaming = ai.streamText({
      ...settings,
      onError: ({ error }: Any) => (failure = error),
      onChunk: () => begun?.(),
    })
    const [text, toolCalls, finishReason] = await Promise.all([
      streaming.text,
      streaming.toolCalls,
      streaming.finishReason,
    ])
    if (failure !== undefined) throw failure
    signal?.throwIfAborted()
    return seenBy({ text, toolCalls, finishReason })
  }
}

function seenBy({ text, toolCalls, finishReason }: Any): Seen {
  return {
    text,
    calls: toolCalls.map(({ toolName: name, input }: Any) => ({ name, arguments: input })),
    finish: finishReason,
  }
}

async function langchain(load: Load) {
  const { ChatOpenAI } = await load<Any>("@langchain/openai")
  const { HumanMessage } = await load<Any>("@langchain/core/messages")
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const model = new ChatOpenAI({
      model: "any",
      apiKey: "none",
      maxRetries: 0,
      configuration: { baseURL: `${url}/v1` },
    })
    const picture = { type: "image_url", image_url: { url: PICTURE_URL } }
    const messages = [new HumanMessage({ content: [{ type: "text", text: prompt }, ...(image ? [picture] : [])] })]
    if (schema) {
      const made = await model.withStructuredOutput(CITY, { name: "city", method: "jsonSchema" }).invoke(messages)
      return { text: JSON.stringify(made), calls: [], finish: "" }
    }
    const tool = { type: "function", function: { name: "get_weather", description: DESCRIPTION, parameters: CITY } }
    const asked = tools ? model.bindTools([tool]) : model
    let message: Any
    if (stream)
      for await (const piece of await asked.stream(messages, { signal })) {
        begun?.()
        message = message === undefined ? piece : message.concat(piece)
      }
    else message = await asked.invoke(messages)
    signal?.throwIfAborted()
    const calls = message.tool_calls.map(({ name, args }: Any) => ({ name, arguments: args }))
    return { text: message.text, calls, finish: message.response_metadata.finish_reason ?? "" }
  }
}

/** It tells why an answer ended only in what it passes on as it came. */
async function llamaIndex(load: Load) {
  const { OpenAI } = await load<Any>("@llamaindex/openai")
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const format = schema
      ? { response_format: { type: "json_schema", json_schema: { name: "city", schema: CITY } } }
      : {}
    const model = new OpenAI({
      model: "gpt-4o",
      apiKey: "none",
      maxRetries: 0,
      baseURL: `${url}/v1`,
      additionalChatOptions: format,
    })
    const picture = { type: "image_url", image_url: { url: PICTURE_URL } }
    const tool = { metadata: { name: "get_weather", description: DESCRIPTION, parameters: CITY }, call: () => "sunny" }
    const asked = {
      messages: [{ role: "user", content: image ? [{ type: "text", text: prompt }, picture] : prompt }],
      ...(tools ? { tools: [tool] } : {}),
    }
    if (!stream) {
      const { message, raw } = await model.chat(asked)
      const finish = raw.choices[0].finish_reason
      return { text: message.content ?? "", calls: callsOf(message.options), finish }
    }
    return llamaIndexSeen(await model.chat({ ...asked, stream: true }), { signal, begun })
  }
}

async function llamaIndexSeen(
  pieces: AsyncIterable<Any>,
  { signal, begun }: Pick<Ask, "signal" | "begun">,
): Promise<Seen> {
  const seen: Seen = { text: "", calls: [], finish: "" }
  for await (const { delta, options, raw } of pieces) {
    begun?.()
    seen.text += delta
    if (options?.toolCall) seen.calls = callsOf(options)
    seen.finish = raw?.choices?.[0]?.finish_reason ?? seen.finish
    if (signal?.aborted) break
  }
  signal?.throwIfAborted()
  return seen
}

function callsOf(options: Any): Seen["calls"] {
  return (options?.toolCall ?? []).map(({ name, input }: Any) => ({
    name,
    arguments: typeof input === "string" ? JSON.parse(input) : input,
  }))
}

/** An agent that may take one step. */
async function mastra(load: Load) {
  const { Agent } = await load<Any>("@mastra/core/agent")
  const { createTool } = await load<Any>("@mastra/core/tools")
  const { z } = await load<Any>("zod")
  const city = z.object({ city: z.string(), days: z.number().int().optional() })
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const weather = createTool({
      id: "get_weather",
      description: DESCRIPTION,
      inputSchema: city,
      execute: () => Promise.resolve("sunny"),
    })
    const agent = new Agent({
      id: "own",
      name: "own",
      instructions: "Help.",
      model: { id: "own/any", url: `${url}/v1`, apiKey: "none" },
      maxRetries: 0,
      ...(tools ? { tools: { get_weather: weather } } : {}),
    })
    const picture = { type: "image", image: PICTURE_URL, mimeType: "image/png" }
    const messages = [{ role: "user", content: [{ type: "text", text: prompt }, ...(image ? [picture] : [])] }]
    const settings = {
      maxSteps: 1,
      abortSignal: signal,
      modelSettings: { maxRetries: 0 },
      ...(schema ? { structuredOutput: { schema: city } } : {}),
    }
    const result = stream
      ? await mastraEnd(await agent.stream(messages, settings), { signal, begun })
      : await agent.generate(messages, settings)
    if (result.error) throw result.error
    const calls = result.toolCalls.map(({ payload }: Any) => ({ name: payload.toolName, arguments: payload.args }))
    return { text: result.text, calls, finish: result.finishReason ?? "" }
  }
}

async function mastraEnd(streaming: Any, { signal, begun }: Pick<Ask, "signal" | "begun">): Promise<Any> {
  for await (const _ of streaming.fullStream) begun?.()
  signal?.throwIfAborted()
  return {
    text: await streaming.text,
    toolCalls: await streaming.toolCalls,
    finishReason: await streaming.finishReason,
    error: streaming.error,
  }
}

/** Its runner calls the tools: they note what they were called with. */
async function agents(load: Load) {
  const { Agent, OpenAIProvider, Runner, tool, setTracingDisabled } = await load<Any>("@openai/agents")
  setTracingDisabled(true)
  return async ({ url, prompt, tools, image, schema, stream, signal, begun }: Ask): Promise<Seen> => {
    const calls: Seen["calls"] = []
    const execute = (args: unknown) => {
      calls.push({ name: "get_weather", arguments: args })
      return "sunny"
    }
    const settings = { name: "get_weather", description: DESCRIPTION, strict: false }
    const parameters = { ...CITY, additionalProperties: true }
    const agent = new Agent({
      name: "own",
      model: "any",
      toolUseBehavior: "stop_on_first_tool",
      ...(tools ? { tools: [tool({ ...settings, parameters, execute })] } : {}),
      ...(schema
        ? { outputType: { type: "json_schema", name: "city", strict: false, schema: { ...parameters } } }
        : {}),
    })
    const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: "none" }) })
    const content = [
      { type: "input_text", text: prompt },
      ...(image ? [{ type: "input_image", image: PICTURE_URL }] : []),
    ]
    const result = await runner.run(agent, [{ role: "user", content }], {
      stream: stream === true,
      signal,
      maxTurns: 2,
    })
    if (stream) {
      for await (const _ of result) begun?.()
      await result.completed
      signal?.throwIfAborted()
    }
    const said = result.newItems.flatMap(({ rawItem }: Any) => (rawItem.role === "assistant" ? rawItem.content : []))
    const text = said.map((part: Any) => part.text ?? "").join("")
    const raw = result.rawResponses.at(-1)?.providerData
    return { text, calls, finish: raw?.incomplete_details?.reason ?? raw?.status ?? "" }
  }
}
