import type { JsonObject } from "@toolwright/toolbox"
import { neutralise } from "./neutralise.ts"

/** A text on one line, harmless to a terminal, cut to a width. */
export function oneLine(text: string, width: number): string {
  const line = neutralise(text.replaceAll(/\s+/g, " ").trim())
  const characters = Array.from(line)
  return characters.length <= width ? line : `${characters.slice(0, Math.max(1, width - 1)).join("")}…`
}

/** A call's arguments on one line, as they would be typed: `pattern="add" path=src`. */
export function shortArguments(args: JsonObject, width: number): string {
  const parts = Object.entries(args).map(([name, value]) => `${name}=${oneLine(argumentText(value), 60)}`)
  return oneLine(parts.join(" "), width)
}

/** Characters of a call's arguments that are put before a person at most. */
const MOST_ASKED = 2_000

/**
 * A call's arguments for a person who is to permit it: whole, and where they are very long it is said that there is
 * more.
 */
export function argumentsToPermit(args: JsonObject): string {
  const parts = Object.entries(args).map(([name, value]) => `${name}=${argumentText(value)}`)
  const all = Array.from(neutralise(parts.join(" ")))
  const more = all.length - MOST_ASKED
  return more <= 0
    ? all.join("")
    : `${all.slice(0, MOST_ASKED).join("")}… [${count(more, "more character")}, not shown]`
}

function argumentText(value: unknown): string {
  return typeof value === "string" && /^[\w./@:+-]+$/.test(value) ? value : (JSON.stringify(value) ?? "")
}

/** A duration as people read it: `0.4 s`, `12 s`, `3 min 20 s`. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`
}

/** `1 round`, `3 rounds`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`
}
