import type { Hono } from "hono"
import { answered } from "../http/answered.ts"
import type { RequestVariables } from "../http/guard.ts"
import type { EvaluationSource } from "../http/sources.ts"

/**
 * Evaluations, which the command line makes: `GET /evaluations` lists them, `GET /evaluations/{id}` is one with its
 * figures and its trials, whose runs are at `/runs/{id}`.
 */
export function evaluationRoutes(app: Hono<{ Variables: RequestVariables }>, source: EvaluationSource): void {
  app.get("/evaluations", (context) => answered(async () => context.json({ evaluations: await source.list() })))
  app.get("/evaluations/:id", (context) =>
    answered(async () => context.json({ ...(await source.show(context.req.param("id"))) })),
  )
}
