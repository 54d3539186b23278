import { who } from "../lib/who.ts"
import type { Row } from "./rows.ts"

/** What an event that is no call, reply or round is called. */
const NAMES: Readonly<Record<string, string>> = {
  "run-resume": "went on",
  "model-retry": "model asked again",
  "delivery-fallback": "tools told in another way",
  "grammar-refused": "no grammar for",
  "parse-problem": "not understood",
  nudge: "reminded",
  "loop-detected": "the same again and again",
  "completion-refused": "not yet done",
  "phase-end": "phase over:",
  "tools-changed": "tools changed",
  "tools-found": "tools found",
  "approval-ask": "waits for approval",
  "approval-answer": "approval",
  "evaluation-start": "tries",
  "trial-end": "tried",
  "evaluation-end": "all tried",
  "undo-start": "takes back",
  "undo-end": "taken back",
}

/** The name of a kind of event, as people would say it. */
export const wordsFor = (type: string): string => NAMES[type] ?? type.replaceAll("-", " ")

/** What a line says beside its name. */
export function saidOf({ type, text = "", name = "", by }: Row): string {
  if (type === "undo-start" && by !== undefined) return `${text}, for ${who(by)}`
  if (type === "approval-answer" && by !== undefined) return answerWords(text, by)
  if (type === "approval-ask" || type === "grammar-refused" || type === "phase-end" || type === "phase-start")
    return [name, text].filter((part) => part !== "").join(type === "phase-end" ? " · " : ": ")
  return text === "" ? name : text
}

/** `denied: leave it` becomes `denied by you: leave it`. */
export function answerWords(text: string, by: string | undefined): string {
  if (by === undefined) return text
  const at = text.indexOf(":")
  return at === -1 ? `${text} by ${who(by)}` : `${text.slice(0, at)} by ${who(by)}${text.slice(at)}`
}

/** Which tools a model was led to, and from which away: `look +2, remove -4`; nothing where it was not. */
export function leaningsOf(bias: unknown): string {
  if (typeof bias !== "object" || bias === null) return ""
  const weighed = Object.entries(bias).filter((entry): entry is [string, number] => typeof entry[1] === "number")
  return weighed.map(([name, value]) => `${name} ${value > 0 ? "+" : ""}${value}`).join(", ")
}
