import type { ScreenplayReply, StreamPart } from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import { REDACTED, SECRET_FORMS } from "@toolwright/host/text"

/** What stands in a recording in place of what must not be in it, or is another on each machine. */
export interface Mask {
  /** For what is written and compared. */
  hide(text: string): string
  /** Names back to what they stand for, in JSON text with escapes; secrets stay hidden. */
  show(text: string, json?: boolean): string
}

export interface MaskOptions {
  /**
   * Texts that are another in each run, by the name that stands for them: `{ workspace: project.path }` is written
   * `<workspace>`.
   */
  names?: Readonly<Record<string, string>>
  /** Texts that must not be written, besides those that look like keys and those in variables such as `…_API_KEY`. */
  secrets?: readonly string[]
  /** Where variables are looked up. */
  env?: Readonly<Record<string, string | undefined>>
}

const SECRET = REDACTED

/** Variables that hold secrets, by their names. */
const SECRET_NAME = /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)/i

export function createMask({ names = {}, secrets = [], env = process.env }: MaskOptions = {}): Mask {
  const fromEnvironment = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && SECRET_NAME.test(name) && isUnusual(value) ? [value] : [],
  )
  const hidden = longestFirst([...secrets.filter((secret) => secret !== ""), ...fromEnvironment])
  const wrong = Object.keys(names).find((name) => !/^[a-z][\w-]*$/i.test(name) || name === "secret")
  if (wrong !== undefined)
    throw new ToolwrightError(
      "RECORDING_INVALID",
      `'${wrong}' is no name for a recording: use a word other than 'secret'.`,
    )
  const named = Object.entries(names)
    .filter(([, value]) => value !== "")
    .sort(([, a], [, b]) => b.length - a.length)
  return {
    hide(text) {
      let masked = text
      for (const secret of hidden) for (const form of forms(secret)) masked = masked.replaceAll(form, SECRET)
      for (const form of SECRET_FORMS) masked = masked.replaceAll(form, SECRET)
      for (const [name, value] of named) for (const form of forms(value)) masked = masked.replaceAll(form, `<${name}>`)
      return masked
    },
    show: (text, json = false) =>
      named.reduce(
        (shown, [name, value]) => shown.replaceAll(`<${name}>`, () => (json ? escapedIn(value) : value)),
        text,
      ),
  }
}

/**
 * A short or plain word in a variable may well stand in a text by chance, and then a recording would depend on who
 * replays it.
 */
function isUnusual(value: string): boolean {
  return value.length >= 12 && /\d/.test(value) && /[A-Za-z]/.test(value)
}

/** A text as it is, and as it stands inside JSON. */
function forms(text: string): string[] {
  const escaped = escapedIn(text)
  return escaped === text ? [text] : [escaped, text]
}

const escapedIn = (text: string): string => JSON.stringify(text).slice(1, -1)

const longestFirst = (texts: readonly string[]): string[] => [...new Set(texts)].sort((a, b) => b.length - a.length)

/** Every string in a value, masked, names of properties too. */
export function maskValue<Value>(value: Value, mask: (text: string) => string): Value {
  if (typeof value === "string") return mask(value) as Value
  if (Array.isArray(value)) return value.map((item: unknown) => maskValue(item, mask)) as Value
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskValue(item, mask)])) as Value
}

/** A recorded reply, masked: what is cut into pieces is put together first where something in it is hidden. */
export function maskReply(given: ScreenplayReply, mask: (text: string, json?: boolean) => string): ScreenplayReply {
  const reply = given.error === undefined ? given : { ...given, error: maskValue(given.error, (text) => mask(text)) }
  if (reply.stream === undefined) return reply
  const calls = new Map<number, string>()
  for (const part of reply.stream)
    if ("call" in part) calls.set(part.call, (calls.get(part.call) ?? "") + (part.arguments ?? ""))
  const whole = new Map(
    [...calls].flatMap(([index, text]): [number, string][] =>
      mask(text, true) === text ? [] : [[index, mask(text, true)]],
    ),
  )
  const stream = reply.stream.map((part): StreamPart => {
    if ("call" in part) {
      const { arguments: piece, ...rest } = part
      const masked = whole.get(part.call)
      if (piece === undefined || masked === undefined) return part
      whole.set(part.call, "")
      return masked === "" ? rest : { ...rest, arguments: masked }
    }
    if ("text" in part) return { text: maskPieces(part.text, mask) }
    return "reasoning" in part ? { reasoning: maskPieces(part.reasoning, mask) } : part
  })
  return { ...reply, stream }
}

function maskPieces(pieces: string | readonly string[], mask: (text: string) => string): string[] {
  const joined = [pieces].flat().join("")
  return mask(joined) === joined ? [pieces].flat() : [mask(joined)]
}
