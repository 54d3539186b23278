import type { Hono } from "hono"
import type { RequestVariables } from "./guard.ts"
import { problem } from "./problem.ts"

/**
 * Refuses whatever changes something below a path: for a server without a token, which everybody may reach. What reads
 * is declared before it.
 *
 * @param about what is refused (`Plans are started and changed`), and the command that does it without a server; the
 *   methods that change something are POST alone unless given
 */
export function refuseChanges(
  app: Hono<{ Variables: RequestVariables }>,
  path: string,
  about: { what: string; command: string; methods?: string[] },
): void {
  // The pattern is about the path itself too, and stands in no list of what is served.
  app.on(about.methods ?? ["POST"], [`${path}/*`], () =>
    problem({
      code: "TOKEN_REQUIRED",
      message: `${about.what} over a server with a token alone.`,
      hint: `Start it with --token or --token-file, or use '${about.command}'.`,
    }),
  )
}
