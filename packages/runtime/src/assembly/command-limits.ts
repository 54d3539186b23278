import type { Limits } from "@toolwright/host/sandbox"
import { ToolwrightError } from "@toolwright/toolbox"

const KEYS = ["processes", "memoryMb", "fileMb", "files", "diskMb"] as const

/**
 * What one program may take, as a configuration says it.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where a limit is unknown, or no whole number above 0
 */
export function commandLimits(given: Limits = {}): Limits {
  for (const [key, value] of Object.entries(given)) {
    if (!(KEYS as readonly string[]).includes(key)) refuse(`has no limit '${key}'; there are ${KEYS.join(", ")}`)
    const none = key === "processes" && value === null
    if (!none && (!Number.isSafeInteger(value) || (value as number) < 1))
      refuse(`needs a whole number above 0 for ${key}`)
  }
  return given
}

function refuse(wrong: string): never {
  throw new ToolwrightError("INVALID_CONFIGURATION", `builtins.limits ${wrong}.`, {
    hint: "Write, for example: builtins: { limits: { files: 2000000, diskMb: 200000 } }",
  })
}
