import type { Context, Hono } from "hono"
import type { CallGate, Held } from "@toolwright/toolbox"
import type { AppVariables } from "../app.ts"
import { bodyLimits, readJson } from "./body.ts"
import { whenSent } from "./sent.ts"

/** What a handler is told of a request that was let in. */
export interface LetIn {
  /** The body, read within this server's limits. */
  body: unknown
  /** Who asks, as an opaque name; empty where nobody is told apart. */
  caller: string
  /** What the answer takes is to be counted here. */
  held: Held
}

/** Gives the requests of a path to a handler of another protocol, once host, origin, token and body are in order. */
export function forward(
  app: Hono<{ Variables: AppVariables }>,
  path: string,
  gate: CallGate,
  handle: (request: Request, letIn: LetIn) => Promise<Response>,
  limits: { maxBodyBytes?: number; bodyTimeoutMs?: number } = {},
): void {
  const answer = async (context: Context<{ Variables: AppVariables }>): Promise<Response> => {
    const caller = context.get("caller")
    const held = gate.hold(caller)
    whenSent(context, () => held.release())
    if (context.req.method !== "POST") return handle(context.req.raw, { body: undefined, caller, held })
    const body = await readJson(context, { ...bodyLimits(limits), held })
    return "refused" in body ? body.refused : handle(context.req.raw, { body: body.value, caller, held })
  }
  // Those that the surface speaks are said by name, so that the entrance lists them; it refuses any other itself.
  app.on(["GET", "POST", "DELETE"], path, answer)
  app.all(path, answer)
}
