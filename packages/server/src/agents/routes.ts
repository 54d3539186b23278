import type { Hono } from "hono"
import { ToolwrightError } from "@toolwright/toolbox"
import { readJson, type BodyLimits } from "../http/body.ts"
import { answered } from "../http/answered.ts"
import type { RequestVariables } from "../http/guard.ts"
import { refuseChanges } from "../http/without-token.ts"
import type { AgentSource } from "../http/sources.ts"

/**
 * The agents that tasks can be given to: `GET /agents` lists them, `GET /agents/{name}` is one, `POST /agents` makes
 * one by name, with the files that it owns and no other does, and `DELETE /agents/{name}` lets go of it. What changes
 * something needs a token.
 */
export function agentRoutes(
  app: Hono<{ Variables: RequestVariables }>,
  source: AgentSource,
  { limits, secured }: { limits: BodyLimits; secured: boolean },
): void {
  app.get("/agents", (context) => answered(async () => context.json({ agents: await source.list() })))
  app.get("/agents/:name", (context) =>
    answered(async () => context.json({ ...(await source.show(context.req.param("name"))) })),
  )
  if (!secured) {
    refuseChanges(app, "/agents", {
      what: "Agents are made and removed",
      command: "toolwright agents",
      methods: ["POST", "DELETE"],
    })
    return
  }
  app.post("/agents", async (context) => {
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    return answered(async () => {
      const agent = newAgentIn(body.value)
      const made = await source.create(agent)
      return context.json({ ...made }, 201, { location: `/agents/${encodeURIComponent(agent.name)}` })
    })
  })
  app.delete("/agents/:name", (context) =>
    answered(async () => context.json({ ...(await source.remove(context.req.param("name"))) })),
  )
}

/**
 * The files may be said as an outer assistant knows them, `specialized_files`. @throws ToolwrightError `INVALID_AGENT`
 */
function newAgentIn(body: unknown): { name: string } {
  const given = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>
  const { specialized_files: files, ...agent } = given
  if (typeof agent.name !== "string")
    throw new ToolwrightError("INVALID_AGENT", "An agent needs a 'name'.", {
      hint: 'As in { "name": "AreaAgent", "files": ["src/area.py"] }.',
    })
  return { ...agent, ...(files === undefined ? {} : { files }) } as { name: string }
}
