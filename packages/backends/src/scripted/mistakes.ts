import { messageOf } from "@toolwright/toolbox"
import { placeholdersIn } from "./capture.ts"
import { isJsonPath } from "./json-path.ts"
import type { Expectation, Screenplay, ScreenplayStep } from "./screenplay.ts"

/** What is wrong in a screenplay, and where. */
export interface Mistake {
  path: (string | number)[]
  message: string
}

/**
 * The mistakes that the JSON Schema cannot see: broken patterns and paths, unknown captures, contradictions,
 * unreachable steps.
 */
export function findMistakes(screenplay: Screenplay): Mistake[] {
  const mistakes: Mistake[] = []
  const known = new Set<string>()
  for (const [index, step] of screenplay.steps.entries()) {
    const path = ["steps", index]
    const name = `step ${index + 1}`
    if (step.repeat === "always" && index < screenplay.steps.length - 1) {
      mistakes.push({ path, message: `${name} is repeated always, so the steps after it are never reached` })
    }
    checkExpectations(step, path, mistakes)
    for (const [captured, capture] of Object.entries(step.capture ?? {})) {
      known.add(captured)
      const at = [...path, "capture", captured]
      const { matches, json } = typeof capture === "string" ? { matches: capture } : capture
      if ((matches === undefined) === (json === undefined))
        mistakes.push({ path: at, message: `${captured} needs either 'matches' or 'json'` })
      if (matches !== undefined) checkPattern(matches, at, mistakes)
      if (json !== undefined) checkPath(json, at, mistakes)
    }
    checkReply(step, known, [...path, "reply"], mistakes)
  }
  return mistakes
}

function checkReply(
  { reply }: ScreenplayStep,
  known: ReadonlySet<string>,
  path: (string | number)[],
  mistakes: Mistake[],
): void {
  const parts = typeof reply === "string" ? { text: reply } : reply
  const { text, reasoning, calls = [], stream } = parts
  if (stream !== undefined && (text ?? reasoning ?? calls[0]) !== undefined) {
    mistakes.push({ path, message: "a reply with 'stream' has its text, reasoning and calls in there" })
  }
  for (const [index, part] of (stream ?? []).entries()) {
    const kinds = ["text", "reasoning", "call", "retry"].filter((kind) => kind in part)
    if (kinds.length !== 1) {
      mistakes.push({
        path: [...path, "stream", index],
        message: "a part of a stream is one of text, reasoning, call, retry",
      })
    }
  }
  if (typeof reply === "object" && reply.interpolate === false) return
  for (const name of placeholdersIn(parts)) {
    if (known.has(name)) continue
    mistakes.push({
      path,
      message: `{{${name}}} is captured nowhere before; capture it, or set 'interpolate: false' to send it as it is`,
    })
  }
}

function checkExpectations({ expect = [] }: ScreenplayStep, path: (string | number)[], mistakes: Mistake[]): void {
  const several = Array.isArray(expect)
  for (const [index, expectation] of [expect].flat().entries()) {
    const at = [...path, "expect", ...(several ? [index] : [])]
    for (const subject of [
      "system",
      "user",
      "last",
      "result",
      "any",
      "grammar",
    ] as const satisfies (keyof Expectation)[]) {
      const check = expectation[subject]
      if (typeof check !== "object" || check instanceof RegExp) continue
      for (const pattern of [check.matches ?? []].flat()) checkPattern(pattern, [...at, subject], mistakes)
      for (const json of Object.keys(check.json ?? {})) checkPath(json, [...at, subject], mistakes)
    }
  }
}

function checkPattern(pattern: string | RegExp, path: (string | number)[], mistakes: Mistake[]): void {
  try {
    void RegExp(pattern, "m")
  } catch (thrown) {
    mistakes.push({ path, message: messageOf(thrown) })
  }
}

function checkPath(json: string, path: (string | number)[], mistakes: Mistake[]): void {
  if (!isJsonPath(json)) mistakes.push({ path, message: `'${json}' is no path; write e.g. $.matches[0].line` })
}
