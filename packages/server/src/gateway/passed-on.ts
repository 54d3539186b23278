import type { Backend } from "@toolwright/backends"
import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { isObject } from "./fields.ts"
import { RequestProblem, type Translated } from "./wire.ts"

const OTHERWISE = "or start this server with '--backend openai-compatible --base-url <the model server's /v1>'."
const EMBEDDINGS = `Let the client ask a server for embeddings by an address of its own, ${OTHERWISE}`
const COMPLETIONS = `Ask /v1/chat/completions, ${OTHERWISE}`

/**
 * The answer of the model's own server to a question that the gateway passes on as it is.
 *
 * @throws RequestProblem where the model has no such server, otherwise what `forward` throws
 */
export async function passedOn(
  backend: Backend,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<Response> {
  if (backend.forward === undefined)
    throw new RequestProblem(
      `'/v1/${path}' is passed on to a model server that speaks OpenAI's API; a model of the kind ` +
        `'${backend.kind}' has none. ${path === "embeddings" ? EMBEDDINGS : COMPLETIONS}`,
      "",
      404,
    )
  // An embedding model is another one than that which answers: whoever asks knows its name.
  const asked = path === "embeddings" && typeof body.model === "string" ? body : { ...body, model: backend.modelName() }
  const answer = await backend.forward(path, asked, { signal })
  const type = answer.headers.get("content-type") ?? "application/json"
  return new Response(answer.body, {
    status: answer.status,
    headers: { "content-type": type, "x-routing-mode": "passthrough" },
  })
}

/**
 * The answer of the model's own server to a question that it knows in OpenAI's words.
 *
 * @throws ToolwrightError `MODEL_BAD_REPLY` where it is none, and what `passedOn` throws
 */
export async function translatedAnswer(
  backend: Backend,
  { to, ask, tell }: Translated,
  given: JsonObject,
  signal: AbortSignal,
): Promise<Response> {
  const asked = ask(given)
  if ("ready" in asked) return Response.json(asked.ready)
  const started = performance.now()
  const response = await passedOn(backend, to, asked.body, signal)
  const answer = await jsonIn(response, to)
  if (!isObject(answer))
    throw new ToolwrightError("MODEL_BAD_REPLY", `The model's server gave no answer to '${to}' that can be read.`)
  const { leftOut } = asked
  const headers: Record<string, string> = leftOut.length === 0 ? {} : { "x-toolwright-left-out": leftOut.join(", ") }
  return Response.json(tell(answer, given, performance.now() - started), { headers })
}

/** Characters of an answer that is read whole: many thousands of long vectors. */
const MOST_CHARACTERS = 64 * 1024 * 1024

/** Of what is no JSON, nothing. @throws ToolwrightError `MODEL_BAD_REPLY` for an answer without an end */
async function jsonIn({ body }: Response, page: string): Promise<unknown> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let characters = 0
  // Leaving the loop leaves the server too.
  for await (const bytes of body ?? []) {
    const piece = decoder.decode(bytes, { stream: true })
    pieces.push(piece)
    characters += piece.length
    if (characters > MOST_CHARACTERS)
      throw new ToolwrightError("MODEL_BAD_REPLY", `The model's server does not end its answer to '${page}'.`)
  }
  try {
    return JSON.parse(pieces.join("") + decoder.decode())
  } catch {
    return undefined
  }
}
