import { homedir } from "node:os"
import { relative, resolve, sep } from "node:path"
import { realPlace } from "./real-place.ts"

/** Alternatives that one pattern may stand for; beyond that a set of characters is any one character. */
const MOST_ALTERNATIVES = 200

/**
 * A pattern as it is compared: without detours, the home folder by its path, and one for each alternative in `{a,b}`
 * and `[ab]`. Names that hold such brackets are meant as well: whoever writes `[id].ts` keeps the file of that name.
 */
export function spelledOut(pattern: string): string[] {
  const exception = pattern.startsWith("!") ? "!" : ""
  const written = withoutDetours(pattern.slice(exception.length))
  // Of an exception only what it says letter by letter is let through.
  const forms = exception === "" ? [written, ...alternativesIn(written)] : [written]
  return [...new Set(forms)].map((form) => exception + (exception === "" ? denying(form) : form))
}

/** What was written as no exception becomes none by losing a detour or a bracket: its mark is any sign then. */
const denying = (form: string): string => form.replace(/^!/u, "?")

function withoutDetours(pattern: string): string {
  const home = pattern === "~" || pattern.startsWith("~/") ? homedir() + pattern.slice(1) : pattern
  if (!home.includes("/")) return home
  const parts: string[] = []
  for (const part of home.split("/")) {
    const last = parts.at(-1)
    if (part === ".." && last !== undefined && last !== ".." && !/[*?]/u.test(last)) parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  return (home.startsWith("/") ? "/" : "") + parts.join("/")
}

/** @returns what a pattern with alternatives stands for; nothing where it has none */
function alternativesIn(pattern: string): string[] {
  let forms = [pattern]
  for (let rounds = 0; rounds < 20; rounds++) {
    const next = forms.flatMap((form) => splitOnce(form, forms.length) ?? [form])
    if (next.length === forms.length && next.every((form, at) => form === forms[at])) break
    forms = next
  }
  return forms
}

function splitOnce(form: string, beside: number): string[] | undefined {
  const braces = /\{([^{}]*,[^{}]*)\}/u.exec(form)
  const found = braces ?? /\[([^[\]/]+)\]/u.exec(form)
  if (found === null) return undefined
  const choices = braces === null ? charactersOf(found[1]!) : found[1]!.split(",")
  const few = choices !== undefined && choices.length * beside <= MOST_ALTERNATIVES
  const [before, after] = [form.slice(0, found.index), form.slice(found.index + found[0].length)]
  return (few ? choices : [braces === null ? "?" : "*"]).map((choice) => before + choice + after)
}

/** The characters of a set; nothing where it says which are not meant. */
function charactersOf(set: string): string[] | undefined {
  if (/^[!^]/u.test(set)) return undefined
  const characters: string[] = []
  const plain = set.replaceAll(/(.)-(.)/gu, (_, from: string, to: string) => {
    const [first, last] = [from.codePointAt(0)!, to.codePointAt(0)!]
    for (let code = first; code <= last && characters.length <= MOST_ALTERNATIVES; code++)
      characters.push(String.fromCodePoint(code))
    return ""
  })
  return [...characters, ...plain]
}

/**
 * Patterns of places for a folder that stands for another one: a worktree for its repository, a folder of a workspace
 * for the workspace. What they keep of the one they keep of the other.
 *
 * @param to the folder that now is the root
 * @param from the folder whose files those in `to` are
 * @param root where relative patterns began
 */
export function patternsFor(patterns: readonly string[], to: string, from: string, root: string): string[] {
  const inside = relative(root, from).split(sep).join("/")
  const begins = [...new Set([from, realPlace(from)])]
  const isBelow = inside !== "" && !inside.startsWith("..")
  return patterns.flatMap((pattern) => {
    const exception = pattern.startsWith("!") ? "!" : ""
    const places = spelledOut(pattern)
      .map((form) => form.slice(exception.length))
      .filter((place) => place.includes("/"))
      .flatMap((place) => withoutLinks(place.startsWith("../") ? resolve(root, place) : place))
    const rests = places.flatMap((place) => [
      ...(isBelow ? restsAfter(place.startsWith("/") ? place : `/${place}`, `/${inside}/`) : []),
      ...(place.startsWith("/") ? begins.flatMap((begin) => restsAfter(place, `${begin}/`)) : []),
    ])
    return [pattern, ...[...new Set(rests)].map((rest) => `${exception}${to}/${rest}`)]
  })
}

/** A pattern by its own spelling, and by where its fixed beginning really lies. */
function withoutLinks(place: string): string[] {
  const fixed = /^\/[^*?]*(?=\/|$)/u.exec(place)?.[0]
  return fixed === undefined ? [place] : [...new Set([place, realPlace(fixed) + place.slice(fixed.length)])]
}

/** What is left of a pattern once it has matched a beginning, in every way that it may. */
function restsAfter(pattern: string, beginning: string): string[] {
  const text = beginning.toLowerCase()
  const folded = pattern.replaceAll("**", "*")
  let states = new Set(closed(folded, 0))
  for (const character of text) {
    const next = new Set<number>()
    for (const at of states) {
      const expected = folded[at]
      if (expected === "*") for (const state of closed(folded, at)) next.add(state)
      else if (expected === "?" || expected?.toLowerCase() === character)
        for (const state of closed(folded, at + 1)) next.add(state)
    }
    states = next
  }
  return [...states].map((at) => folded.slice(at)).filter((rest) => rest !== "")
}

/** A place in a pattern, and those behind the stars that stand there, which may be nothing. */
function closed(pattern: string, at: number): number[] {
  const states = [at]
  for (let state = at; pattern[state] === "*"; state++) states.push(state + 1)
  return states
}
