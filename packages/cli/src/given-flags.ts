import { SETTINGS } from "@toolwright/runtime/configuration"
import { shellWord } from "@toolwright/toolbox/shell-word"

/**
 * The flags of settings that a command was given, as they are typed for a command that goes on with its run. What a run
 * was permitted is kept with it; its server, its tools and its database are not, so that a command without these flags
 * would find no model, or not even the run.
 *
 * @param way the command so far; what it says itself is not said again
 */
export function givenFlags(values: Readonly<Record<string, unknown>>, way: string): string {
  const flags = SETTINGS.flatMap(({ key, flag }) =>
    flag === undefined || key.startsWith("permissions.") ? [] : [flag],
  )
  return ["config", "trust", ...flags]
    .filter((flag) => values[flag] !== undefined && !way.includes(` --${flag} `))
    .flatMap((flag) => [values[flag]].flat().map((value) => written(flag, value)))
    .join("")
}

function written(flag: string, value: unknown): string {
  if (typeof value === "boolean") return value ? ` --${flag}` : ` --no-${flag}`
  // A value that begins with a dash would be read as the next flag.
  const text = String(value)
  return text.startsWith("-") ? ` --${flag}=${shellWord(text)}` : ` --${flag} ${shellWord(text)}`
}
