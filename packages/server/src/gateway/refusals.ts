import { createMiddleware } from "hono/factory"
import type { JsonObject } from "@toolwright/toolbox"
import { isObject } from "./fields.ts"
import type { GatewayFailure } from "./wire.ts"
import { anthropicFailure } from "./wires/anthropic/write.ts"
import { ollamaFailure } from "./wires/ollama/write.ts"
import { chatFailure } from "./wires/openai-chat/write.ts"
import { responseFailure } from "./wires/responses/write.ts"

/**
 * Tells clients of a model in their own form what is refused before the gateway: a token, a host, a body, a path, too
 * many at once. Status and headers stay.
 */
export const refusalsInWire = createMiddleware(async (context, next) => {
  await next()
  const failure = formOf(context.req.path, context.req.header("anthropic-version") !== undefined)
  const given = context.res
  if (failure === undefined || !given.headers.get("content-type")?.startsWith("application/problem+json")) return
  const headers = new Headers(given.headers)
  headers.delete("content-length")
  headers.set("content-type", "application/json")
  const body = failure(failureIn(await given.json(), given.status))
  context.res = undefined
  context.res = new Response(JSON.stringify(body), { status: given.status, headers })
})

/** Whose path it is: several wires have `/v1/models`. */
function formOf(path: string, anthropic: boolean): ((failure: GatewayFailure) => JsonObject) | undefined {
  if (path.startsWith("/api/")) return ollamaFailure
  if (!path.startsWith("/v1/")) return undefined
  if (anthropic || path.startsWith("/v1/messages")) return anthropicFailure
  return path.startsWith("/v1/responses") ? responseFailure : chatFailure
}

function failureIn(problem: unknown, status: number): GatewayFailure {
  const { code, message, hint } = isObject(problem) && isObject(problem.error) ? problem.error : ({} as JsonObject)
  const text = String(message ?? "The request was refused.")
  return { status, code: String(code ?? "REFUSED"), message: hint === undefined ? text : `${text} ${String(hint)}` }
}
