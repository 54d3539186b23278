import { tokenSteps, type ArgumentOrigin, type TokenStep, type TokenTrace } from "@toolwright/toolbox"
import { neutralise } from "./neutralise.ts"
import { count } from "./short.ts"
import type { Style } from "./style.ts"

/** Of one reply; the record has all of them. */
const MOST_TOKENS = 2000
const WIDEST = 24

/** What `runs show --tokens` says of how a model came to a reply. */
export function tokenLines(
  { trace, origins = [], withheld }: { trace?: TokenTrace; origins?: ArgumentOrigin[]; withheld?: true },
  style: Style,
): string[] {
  if (withheld === true) return [`  tokens: not recorded, since a secret stands in the reply`]
  if (trace === undefined) return []
  const steps = tokenSteps(trace)
  const width = Math.min(WIDEST, Math.max(4, ...steps.map(({ text }) => shown(text).length)))
  const left = steps.length - MOST_TOKENS
  return [
    `  ${style.bold(count(steps.length, "token"))}` +
      (trace.problem === undefined ? "" : `; ${neutralise(trace.problem)}`),
    ...steps.slice(0, MOST_TOKENS).map((step) => `    ${lineOf(step, width, style)}`),
    ...(left > 0 ? [`    ${style.dim(`${count(left, "token")} more: --json has all`)}`] : []),
    ...origins.map((origin) => `  ${originLine(origin, style)}`),
  ]
}

function lineOf({ text, chance, allowed, removed = 0, others, end }: TokenStep, width: number, style: Style): string {
  const name = end === true ? "(end)" : shown(text)
  const sure = percent(chance)
  const coloured = chance < 0.5 ? style.red(sure) : chance < 0.9 ? style.yellow(sure) : style.green(sure)
  const also = others.map((other) => {
    const said = `${shown(other.text)} ${percent(other.chance).trim()}`
    return other.removed ? style.dim(`${said} removed`) : said
  })
  const facts = [
    allowed === undefined ? "" : style.dim(`${allowed} allowed`),
    removed >= 0.01 ? `the grammar removed ${percent(removed).trim()}` : "",
    also.length === 0 ? "" : `or ${also.join(", ")}`,
  ]
  return [name.padEnd(width), coloured, ...facts.filter((fact) => fact !== "")].join("  ")
}

/** Where a value of the call comes from. */
function originLine({ argument, held, places }: ArgumentOrigin, style: Style): string {
  const rule = held === undefined ? "" : style.dim(` (held to what was said: ${neutralise(held)})`)
  if (places.length === 0) return `${neutralise(argument)} stands nowhere in what was said${rule}`
  const words = places.map(({ message, role, before, text, after }) => {
    const around = (each: string): string => style.dim(flat(each))
    return (
      `“${around(before)}${style.bold(flat(text))}${around(after)}” ` +
      `${style.dim(`(${neutralise(role)}, message ${message})`)}`
    )
  })
  return `${neutralise(argument)} from ${words.join(" and ")}${rule}`
}

const percent = (chance: number): string => `${(100 * chance).toFixed(1)} %`.padStart(7)
const flat = (text: string): string => neutralise(text.replaceAll(/\s+/g, " "))

/** A token with its white space in sight. */
function shown(text: string): string {
  const quoted = neutralise(
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"'),
  ).replaceAll(" ", "␣")
  return quoted.length > WIDEST ? `${quoted.slice(0, WIDEST - 1)}…` : quoted
}
