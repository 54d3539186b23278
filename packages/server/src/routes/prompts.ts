import { Hono } from "hono"
import { promptDefinition, renderPrompt, type PromptRegistry } from "@toolwright/prompts"
import type { JsonObject } from "@toolwright/toolbox"
import { readJson, type BodyLimits } from "../http/body.ts"
import { problem } from "../http/problem.ts"

/** `GET /prompts/` lists the prompts; `POST /prompts/{name}` renders one, with its bare arguments as the body. */
export function promptRoutes(prompts: PromptRegistry, limits: BodyLimits): Hono {
  const routes = new Hono({ strict: false })
  routes.get("/", (context) => context.json(prompts.list().map(promptDefinition)))
  routes.post("/:name", async (context) => {
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    const name = context.req.param("name")
    const prompt = prompts.get(name)
    if (prompt === undefined)
      return problem({
        code: "PROMPT_NOT_FOUND",
        message: `Prompt '${name.slice(0, 100)}' not found`,
        hint: "GET /prompts/ lists the prompts.",
      })
    if (typeof body.value !== "object" || body.value === null || Array.isArray(body.value)) {
      return problem({ code: "INVALID_ARGUMENTS", message: "The body must be one JSON object of arguments." })
    }
    return context.json(renderPrompt(prompt, body.value as JsonObject))
  })
  routes.all("/:name", (context) =>
    problem(
      { code: "METHOD_NOT_ALLOWED", message: `A prompt is rendered with POST, not ${context.req.method}.` },
      { allow: "POST" },
    ),
  )
  return routes
}
