import { resolve } from "node:path"
import { SETTINGS } from "@toolwright/runtime/configuration"
import type { RunOptions } from "@toolwright/runtime"
import { shellWord } from "@toolwright/toolbox/shell-word"
import type { Invocation } from "./command.ts"
import { neutralise } from "./render/neutralise.ts"
import { FILE_FLAGS } from "./settings-options.ts"

type KeptFlags = NonNullable<RunOptions["flags"]>

/**
 * The flags of settings that a command was given, as they are typed for a command that goes on with its run. What a run
 * was permitted is kept with it; its server, its tools and its database are not, so that a command without these flags
 * would find no model, or not even the run.
 *
 * @param way the command so far; what it says itself is not said again
 */
export function givenFlags(values: Readonly<Record<string, unknown>>, way: string): string {
  return NAMES.filter((flag) => values[flag] !== undefined && !way.includes(` --${flag} `))
    .flatMap((flag) => [values[flag]].flat().map((value) => written(flag, value)))
    .join("")
}

const LONGEST_SAID = 1000

/** Of recorded flags those that a line can say as they are: none that would break it, or hide what stands in it. */
export function saidInALine(flags: KeptFlags): KeptFlags {
  const isPlain = (value: unknown): boolean =>
    typeof value === "boolean" ||
    (typeof value === "string" && value.length <= LONGEST_SAID && neutralise(value) === value && !/[\t\n]/u.test(value))
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => [value].flat().every(isPlain)))
}

function written(flag: string, value: unknown): string {
  if (typeof value === "boolean") return value ? ` --${flag}` : ` --no-${flag}`
  // A value that begins with a dash would be read as the next flag.
  const text = String(value)
  return text.startsWith("-") ? ` --${flag}=${shellWord(text)}` : ` --${flag} ${shellWord(text)}`
}

/** Flags that go with a run: what it was permitted stands in its record as rules. */
const NAMES: readonly string[] = [
  "config",
  "trust",
  ...SETTINGS.flatMap(({ key, flag }) => (flag === undefined || key.startsWith("permissions.") ? [] : [flag])),
]

/** Flags that say which model answers, and how. */
export const MODEL_FLAGS: readonly string[] = SETTINGS.flatMap(({ key, flag }) =>
  flag !== undefined && key.startsWith("model.") ? [flag] : [],
)

/** The flags that a record keeps of a command. Where the record lies is known to whoever reads it. */
export function keptFlags({ cwd }: Invocation, values: Readonly<Record<string, unknown>>): KeptFlags {
  const given = NAMES.filter((flag) => flag !== "database" && values[flag] !== undefined)
  return Object.fromEntries(
    given.map((flag) => {
      const value = values[flag] as string | boolean | readonly string[]
      return [flag, FILE_FLAGS.has(flag) || flag === "config" ? resolve(cwd, String(value)) : value]
    }),
  )
}
