import type { ParametersSyntax } from "../../engine/syntax.ts"
import { WORDS } from "../probes.ts"
import type { Samples } from "../samples.ts"
import { leadingSpace, sharedEnd, trailingSpace } from "../text.ts"
import { answers, splitBlock, type Block } from "./block.ts"
import type { Fitted } from "./fitted.ts"

/** What stands between the words of a call. */
interface Gaps {
  before: string
  /** From the name to the first key, from a key to its value, from the last value on. */
  nameToKey: string
  keyToValue: string
  after: string
}

/** How one parameter is written. */
interface Member {
  open: string
  keyEnd: string
  close: string
  after: string
  framed: boolean
}

/** Keys and values between marks, the values as text. */
export function fitParameters(samples: Samples): Fitted | undefined {
  const { one, other, two, number, pair } = samples
  const gaps = gapsIn(one, WORDS.first, WORDS.key, WORDS.value)
  const apart = gapsIn(other, WORDS.second, WORDS.otherKey, WORDS.otherValue)
  const joint = textBetween(two, WORDS.value, WORDS.otherKey)
  if (gaps === undefined || apart === undefined || joint === undefined) return undefined
  const member = memberOf(gaps, joint)
  if (member === undefined) return undefined
  const nameEnd = gaps.nameToKey.slice(0, gaps.nameToKey.length - member.open.length)
  const rest = (text: string) => behindMember(text, member)
  const between = pair === undefined ? undefined : textBetween(pair, WORDS.value, WORDS.second)
  const { idBefore } = cutAtId(gaps.before)
  const [first, second] = [gaps.before, apart.before].map((text) => cutAtId(text).before) as [string, string]
  const block = splitBlock({
    before: first === second ? first : sharedEnd(first, second),
    after: rest(gaps.after) ?? "",
    between: between === undefined ? undefined : rest(cutAtId(between).before),
  })
  const typed = typedBy(gaps.keyToValue, number)
  const syntax = syntaxOf(
    { block, member, nameEnd, idBefore },
    { typed, cdata: samples.tags?.includes("<![CDATA[") === true },
  )
  return syntax === undefined ? undefined : { syntax, turnEnd: block.turnEnd, notes: [] }
}

function syntaxOf(
  { block, member, nameEnd, idBefore }: { block: Block; member: Member; nameEnd: string; idBefore: string | undefined },
  { typed, cdata }: { typed: ParametersSyntax["typed"]; cdata: boolean },
): ParametersSyntax | undefined {
  const ends = trailingSpace(nameEnd)
  const blank = ends.rest === ""
  const around = outside(block, blank)
  if (around === undefined || member.open.trim() === "") return undefined
  const lines = {
    ...(blank || ends.space === "" ? {} : { afterName: ends.space }),
    ...(member.after === "" ? {} : { afterParameter: member.after }),
  }
  return {
    codec: "parameters",
    ...around.outer,
    call: {
      open: around.open,
      ...(idBefore === undefined ? {} : { idBefore }),
      ...nameEndOf(blank ? nameEnd : ends.rest),
      close: around.close,
    },
    parameter: { open: [member.open], keyEnd: [member.keyEnd], close: [member.close] },
    ...(member.framed ? { framed: true } : {}),
    ...(Object.keys(lines).length === 0 ? {} : { lines }),
    ...(typed === undefined ? {} : { typed }),
    ...(cdata ? { cdata } : {}),
  }
}

/** An attribute behind the name that holds the call's id, which the probes know. */
const ID = /([\w.:-]+)=(["'])(?:qzcall\d+|[A-Za-z0-9]{9})\2/

/** An id of the probes', wherever it stands before a name. */
const EARLY_ID = /qzcall\d+/g

/** What stands before a name, up to the call's id where one comes first, and what stands between that and the name. */
function cutAtId(text: string): { before: string; idBefore?: string } {
  const id = [...text.matchAll(EARLY_ID)].at(-1)
  if (id === undefined) return { before: text }
  return { before: text.slice(0, id.index), idBefore: text.slice(id.index + id[0].length) }
}

/** What stands behind the name: other text at each call, where an id is part of it. */
function nameEndOf(text: string): Pick<ParametersSyntax["call"], "nameEnd" | "attributesEnd" | "id"> {
  const [quote = ""] = text
  const id = ID.exec(text)
  if (id === null || !/^["']\s/.test(text) || !text.endsWith(">")) return { nameEnd: [text] }
  const written = text.replace(id[0], `${id[1]}=${id[2]}{id}${id[2]}`)
  return { nameEnd: [written, quote], attributesEnd: ">", id: id[1]! }
}

function gapsIn(text: string, name: string, key: string, value: string): Gaps | undefined {
  const atKey = text.indexOf(key)
  const atName = text.lastIndexOf(name, atKey)
  const atValue = text.indexOf(value, atKey)
  if (atKey < 0 || atName < 0 || atValue < 0) return undefined
  return {
    before: text.slice(0, atName),
    nameToKey: text.slice(atName + name.length, atKey),
    keyToValue: text.slice(atKey + key.length, atValue),
    after: text.slice(atValue + value.length),
  }
}

function textBetween(text: string, from: string, to: string): string | undefined {
  const start = text.indexOf(from)
  const end = text.indexOf(to, start + from.length)
  return start < 0 || end < 0 ? undefined : text.slice(start + from.length, end)
}

/** The marks of a parameter, from what stands before the first key and between two parameters. */
function memberOf({ nameToKey, keyToValue }: Gaps, joint: string): Member | undefined {
  const open = leadingSpace(sharedEnd(nameToKey, joint)).rest
  const closing = trailingSpace(joint.slice(0, joint.length - open.length))
  if (closing.rest.trim() === "" || open === "") return undefined
  const named = closing.rest.replaceAll(WORDS.key, "{key}")
  const framed = keyToValue.endsWith("\n") && named.startsWith("\n")
  return {
    open,
    keyEnd: framed ? keyToValue.slice(0, -1) : keyToValue,
    close: framed ? named.slice(1) : named,
    after: closing.space,
    framed,
  }
}

/** What stands behind a parameter's closing mark. */
function behindMember(text: string, { close, after, framed }: Member): string | undefined {
  const whole = (framed ? "\n" : "") + close.replaceAll("{key}", WORDS.key)
  if (!text.startsWith(whole)) return undefined
  const rest = text.slice(whole.length)
  return rest.startsWith(after) ? rest.slice(after.length) : rest
}

/** An attribute that is otherwise for a number than for a text. */
function typedBy(keyToValue: string, number: string | undefined): ParametersSyntax["typed"] {
  const forNumber = number === undefined ? undefined : textBetween(number, "whole", "7")
  if (forNumber === undefined || forNumber === keyToValue) return undefined
  const text = /^"\s*(\w+)="([^"]*)"([^\w]*)$/s.exec(keyToValue)
  const value = /^"\s*(\w+)="([^"]*)"/.exec(forNumber)
  if (text === null || value === null || text[1] !== value[1] || text[3] === undefined) return undefined
  if (text[1] === "string" || text[1] === "type") return { attribute: text[1], end: text[3] }
  return undefined
}

/** The marks around all calls and around each; undefined where nothing would tell a call from text. */
function outside(block: Block, blank: boolean) {
  const { callOpen, callClose } = block
  const list = (mark: string) => (mark === "" ? [] : [mark])
  if (block.together) {
    const { open, close, first, between, last } = block
    const layout = { before: first, between, after: last }
    const optional = answers(open, close) ? {} : { closeOptional: true }
    const outer = { wrapper: { open: [open], close: list(close), ...optional }, layout, together: true }
    return { outer, open: list(callOpen), close: list(callClose) }
  }
  const separator = block.between === "" ? {} : { separator: block.between }
  const inner = /^(.*>)(\s*)(<[^<>]*)$/s.exec(callOpen)
  const closing = inner === null ? null : /^(<\/?[^<>]*>)(\s*)(.+)$/s.exec(callClose)
  if (inner !== null && closing !== null) {
    const outer = {
      wrapper: { open: [inner[1]!], close: [closing[3]!] },
      layout: { before: inner[2]!, after: closing[2]! },
      ...separator,
    }
    return { outer, open: [inner[3]!], close: [closing[1]!] }
  }
  if (callOpen.trim() === "") return undefined
  if (!blank) return { outer: separator, open: [callOpen], close: list(callClose) }
  return { outer: { wrapper: { open: [callOpen], close: list(callClose) }, ...separator }, open: [], close: [] }
}
