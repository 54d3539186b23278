import type { JsonObject } from "@toolwright/toolbox"

/** Narrow readers for JSON from a wire: whatever has another shape reads as absent, so that decoders never throw. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** The field of an object, or undefined when there is no object. */
export function field(value: unknown, key: string): unknown {
  return asObject(value)?.[key]
}

/** Parses JSON text; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Arguments as a wire carries them, as JSON text: strings as they are, objects serialised, absent ones empty. */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value
  return value === undefined || value === null ? "" : JSON.stringify(value)
}
