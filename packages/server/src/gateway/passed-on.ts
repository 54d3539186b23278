import type { Backend } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import { RequestProblem } from "./wire.ts"

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
        `'${backend.kind}' has none.`,
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
