import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A family of models, by how it writes calls. */
export interface Family {
  /** From which the format is chosen. */
  model: string
  call(name: string, args: Record<string, unknown>): string
}

export const FAMILIES: Readonly<Record<"hermes" | "qwen3-coder", Family>> = {
  hermes: {
    model: "qwen2.5-7b-instruct",
    call: (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`,
  },
  "qwen3-coder": {
    model: "qwen3-coder-30b",
    call: (name, args) => {
      const fields = Object.entries(args).map(([key, value]) => `<parameter=${key}>\n${textOf(value)}\n</parameter>`)
      return `<tool_call>\n<function=${name}>\n${fields.join("\n")}\n</function>\n</tool_call>`
    },
  },
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

interface Message {
  role: string
  content: string | { type: string; text?: string }[] | null
}

/** What a request comes to, for whoever decides on the reply. */
export interface Asked {
  family: Family
  /** All that was said, in one. */
  text: string
  system: string
  /** Results since the beginning. */
  results: number
  pictures: number
  /** Whether the reply is to be JSON. */
  schema: boolean
}

export interface Reply {
  text: string
  finish?: "length"
  status?: number
  /** Goes on until the client leaves. */
  endless?: boolean
}

/** A model server that writes calls as text: OpenAI's chat completions, tools and images unknown to it. */
export async function serveModel(family: Family, reply: (asked: Asked) => Reply) {
  const left: Promise<void>[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    if (request.method !== "POST" || !request.url!.endsWith("/chat/completions"))
      return void response.writeHead(404).end("{}")
    const body = JSON.parse(Buffer.concat(pieces).toString()) as {
      messages: Message[]
      stream?: boolean
      response_format?: object
    }
    const answer = reply({ ...askedOf(family, body.messages), schema: body.response_format !== undefined })
    if (answer.status !== undefined)
      return void response.writeHead(answer.status, { "retry-after": "1" }).end('{"error":{"message":"busy"}}')
    if (answer.endless) left.push(new Promise((resolve) => response.once("close", () => resolve())))
    await write(response, answer, body.stream === true)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Whether everybody who left was noticed. */
    allLeft: () => Promise.race([Promise.all(left).then(() => left.length > 0), later(5000)]),
    close: () => closed(server),
  }
}

function later(milliseconds: number): Promise<false> {
  return new Promise((resolve) => void setTimeout(() => resolve(false), milliseconds).unref())
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

function askedOf(family: Family, messages: readonly Message[]): Omit<Asked, "schema"> {
  const parts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }],
  )
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => String(content))
  const isResult = ({ role, content }: Message) =>
    role === "tool" || JSON.stringify(content).includes("<tool_response>")
  return {
    family,
    text: parts.map(({ text = "" }) => text).join("\n"),
    system: system.join("\n"),
    results: messages.filter(isResult).length,
    pictures: parts.filter(({ type }) => type === "image_url").length,
  }
}

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

async function write(response: ServerResponse, { text, finish, endless }: Reply, streamed: boolean): Promise<void> {
  const named = { id: "chatcmpl-1", created: 0, model: "m" }
  const reason = finish ?? "stop"
  if (!streamed) {
    const message = { role: "assistant", content: text }
    const body = {
      ...named,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: reason }],
      usage: USAGE,
    }
    return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  const chunk = (body: object) =>
    response.write(`data: ${JSON.stringify({ ...named, object: "chat.completion.chunk", ...body })}\n\n`)
  const say = (content: string) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
  for (let left = endless === true ? Infinity : 0; left > 0 && !response.destroyed; left--) {
    say("on and ")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (let at = 0; at < text.length; at += 4) {
    say(text.slice(at, at + 4))
    await new Promise((resolve) => setImmediate(resolve))
  }
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
  chunk({ choices: [], usage: USAGE })
  response.end("data: [DONE]\n\n")
}
