import { createRedactor, NAMED_SECRET_FORMS, type Redactor } from "@toolwright/host/text"
import { nearest, ToolwrightError } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { configuredSecrets, environmentSecrets } from "./values.ts"

/** The kinds of secrets that `secrets.shown` may name, beside `all`. */
export const SECRET_KINDS: readonly string[] = [
  ...new Set(NAMED_SECRET_FORMS.map(({ name }) => name)),
  "environment",
  "configured",
]

/**
 * What takes secrets out of text under a configuration: those that have a form, and those known by value from the
 * environment and the configuration itself.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for a kind that does not exist
 */
export function redactorFor(configuration: Configuration, env: Readonly<Record<string, string | undefined>>): Redactor {
  const named = configuration.secrets.shown ?? []
  for (const kind of named) if (kind !== "all" && !SECRET_KINDS.includes(kind)) throw unknown(kind)
  const shown = new Set(named.includes("all") ? SECRET_KINDS : named)
  return createRedactor(
    [
      ...(shown.has("environment") ? [] : environmentSecrets(env)),
      ...(shown.has("configured") ? [] : configuredSecrets(configuration)),
    ],
    { shown },
  )
}

function unknown(kind: string): ToolwrightError {
  const [near] = nearest(kind, SECRET_KINDS)
  return new ToolwrightError(
    "INVALID_CONFIGURATION",
    `The setting 'secrets.shown' names '${kind}', which is no kind.`,
    {
      hint: near === undefined ? `Kinds: ${SECRET_KINDS.join(", ")}, all.` : `Did you mean '${near}'?`,
    },
  )
}
