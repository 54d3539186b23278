import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { openTelemetryTracer, traceCalls } from "@toolwright/host/tracing"
import { messageOf, ToolwrightError, type Middleware } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { guardSecrets } from "../secrets/guard.ts"
import { limitCalls } from "./call-limits.ts"
import { redactorFor } from "../secrets/redactor.ts"

/** What {@link middlewareFor} takes from its surroundings. */
export interface MiddlewareOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Middleware of the application, inside that of the configuration. */
  readonly own?: readonly Middleware[]
}

/**
 * What stands around every call, on every surface, the outermost first, inside the span that it may have: secrets are
 * taken out of results last, whatever else was done to them.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` when a configured module gives no middleware
 */
export async function middlewareFor(
  configuration: Configuration,
  { cwd, env, own = [] }: MiddlewareOptions,
): Promise<readonly Middleware[]> {
  const { roots, readOnly } = configuration.workspace
  const folders = [...(roots ?? (readOnly === undefined ? ["."] : [])), ...(readOnly ?? [])]
  const guard = guardSecrets({
    redact: redactorFor(configuration, env),
    roots: folders.map((folder) => resolve(cwd, folder)),
    keyLines: !(configuration.secrets.shown ?? []).some((kind) => kind === "private-key" || kind === "all"),
  })
  const configured: Middleware[] = []
  for (const file of configuration.calls.middleware ?? []) configured.push(await loadMiddleware(resolve(cwd, file)))
  const { limits } = configuration.calls
  const tracer = await openTelemetryTracer()
  // A span lasts as long as its call, whatever else stands around that.
  return [
    ...(tracer === undefined ? [] : [traceCalls(tracer)]),
    guard,
    ...(limits === undefined ? [] : [limitCalls(limits)]),
    ...configured,
    ...own,
  ]
}

async function loadMiddleware(file: string): Promise<Middleware> {
  let module: { default?: unknown }
  try {
    module = (await import(pathToFileURL(file).href)) as { default?: unknown }
  } catch (cause) {
    throw new ToolwrightError("INVALID_CONFIGURATION", `The middleware ${file} cannot be loaded: ${messageOf(cause)}`, {
      cause,
    })
  }
  if (typeof module.default === "function") return module.default as Middleware
  throw new ToolwrightError("INVALID_CONFIGURATION", `The middleware ${file} exports no function as default.`, {
    hint: "Write: export default async (call, next) => next()",
  })
}
