import { SETTINGS } from "@toolwright/runtime/configuration"

/** Options of a run whose flag is called otherwise. */
const OF_RUNS: Readonly<Record<string, string>> = { files: "file", agent: "agent" }

const NAMED = /`([A-Za-z]+(?:\.[A-Za-z]+)*)(?:: ([^`]+))?`/g

/**
 * A text of the library as the command line says it. Errors name what a program would write, a setting or an option of
 * a run in backticks (`permissions.allow: [git]`); where that has a flag, the flag is named instead.
 */
export function asFlags(text: string): string {
  return text.replace(NAMED, (whole: string, key: string, value: string | undefined) => {
    const flag = Object.hasOwn(OF_RUNS, key) ? OF_RUNS[key] : SETTINGS.find((setting) => setting.key === key)?.flag
    if (flag === undefined) return whole
    if (value === undefined) return `--${flag}`
    const values = /^\[.*\]$/.test(value) ? value.slice(1, -1).split(/,\s*/) : [value]
    return values.map((one) => `--${flag} ${one}`).join(" ")
  })
}
