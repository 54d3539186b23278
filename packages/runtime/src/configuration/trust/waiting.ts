import { isDeepStrictEqual } from "node:util"
import { SETTINGS } from "../settings.ts"
import type { Setting, SettingNature } from "../setting.ts"
import { demandsOf, type Demand } from "./demands.ts"

/** A setting of a file that takes no effect, or not wholly, until the file is trusted. */
export interface WaitingSetting {
  readonly key: string
  readonly nature: SettingNature
  /** What it would do, for a person who decides: one entry for each program, server or folder. */
  readonly demands: readonly Demand[]
}

/** What of a file takes effect by itself, and what waits. */
export interface Admitted {
  readonly values: ReadonlyMap<string, unknown>
  readonly waiting: readonly WaitingSetting[]
}

/** Settings that mean nothing without another one, and are left out with it. */
const COMPANIONS: readonly string[] = ["model.name", "model.backend", "model.dialect"]

/**
 * Parts a file's values by what they can do.
 *
 * @param values what the file says, by key
 * @param overruled keys that an environment variable or a flag decides, so that the file's value counts for nothing
 */
export function admit(
  values: ReadonlyMap<string, unknown>,
  { cwd, overruled = new Set() }: { cwd: string; overruled?: ReadonlySet<string> },
): Admitted {
  const free = new Map(values)
  const waiting: WaitingSetting[] = []
  for (const setting of SETTINGS) {
    if (!values.has(setting.key) || overruled.has(setting.key)) continue
    const value = values.get(setting.key)
    const part = freePart(setting, value, { cwd, values })
    if (isDeepStrictEqual(part, value)) continue
    if (part === undefined) free.delete(setting.key)
    else free.set(setting.key, part)
    const demands = demandsOf(setting, value, part, cwd)
    if (demands.length > 0) waiting.push({ key: setting.key, nature: setting.nature, demands })
  }
  const noModel = ["model.baseUrl", "model.path", "model.screenplay"].some((key) =>
    waiting.some((each) => each.key === key),
  )
  if (noModel) for (const key of COMPANIONS) free.delete(key)
  return { values: free, waiting }
}

function freePart(
  setting: Setting,
  value: unknown,
  surroundings: { cwd: string; values: ReadonlyMap<string, unknown> },
) {
  if (setting.nature === "harmless" || setting.nature === "narrows") return value
  // An empty list or mapping asks for nothing.
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return value
  return setting.free?.(value, surroundings)
}
