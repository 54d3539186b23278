import type { ToolCall } from "@toolwright/toolbox"
import { cutText } from "../cuttings.ts"
import { collectReply, createParser } from "../engine/parser.ts"
import { nextId } from "../engine/ids.ts"
import { printCalls } from "../engine/print.ts"
import type { Format } from "../engine/syntax.ts"
import { KINDS, PLAIN, probeTools } from "./probes.ts"
import type { Renderings } from "./renderings.ts"

/** How well a format does on everything that its template was probed with. */
export interface Judgement {
  /** How many probes the template rendered, of how many. */
  shown: number
  probes: number
  /** Of those shown, how many are read as the calls that they are, however they are cut. */
  read: number
  /** And how many we print with the same words and marks as the template does, white space aside. */
  printed: number
  /** What is read otherwise, in words for people. */
  unread: readonly string[]
  /** Probes that the template does not take. */
  notShown: readonly string[]
}

const PROBES: readonly { what: string; calls: readonly ToolCall[] }[] = [
  { what: "one call", calls: PLAIN.one },
  { what: "several arguments", calls: PLAIN.two },
  { what: "calls without arguments", calls: PLAIN.none },
  { what: "two calls", calls: PLAIN.pair },
  { what: "three calls", calls: PLAIN.three },
  ...KINDS,
]

const CUTS = ["whole", "char", "random:7", "random:23"]

/** Holds a format against the renderings of its template. */
export function judge(format: Format, renderings: Renderings): Judgement {
  const tools = probeTools()
  let read = 0
  let printed = 0
  const unread: string[] = []
  const notShown: string[] = []
  for (const { what, calls } of PROBES) {
    const shown = renderings.reply(calls)
    if (shown === undefined) {
      notShown.push(what)
      continue
    }
    if (!CUTS.every((cut) => reads(format, shown.text, calls, cut))) unread.push(what)
    else if (calls === PLAIN.one && !readsOwnId(format, shown.text)) unread.push("ids that the model makes up")
    else read++
    const own = calls.map((call, index) => ({ ...call, id: nextId(format.ids, undefined, call.name, index) }))
    const texts = [calls, own].map((each) => plain(printCalls(format, each, tools)))
    if (texts.some((text) => plain(shown.text).includes(text))) printed++
  }
  return { shown: PROBES.length - notShown.length, probes: PROBES.length, read, printed, unread, notShown }
}

/** An id like those of the probes, of which no format that was read off them knows. */
const OWN_ID = "wk7probe9"

/** Whether another id in a call's place is no hindrance: a model writes its own, and nothing of it is text. */
function readsOwnId(format: Format, text: string): boolean {
  const [call] = PLAIN.one
  const written = text.replaceAll(call.id, OWN_ID)
  if (!reads(format, written, PLAIN.one, "whole")) return false
  const parser = createParser(format, [], { tools: probeTools() })
  return !collectReply([...parser.push(written), ...parser.end()]).content.includes(OWN_ID)
}

/** How many of the probes that a template renders a format reads as what they are. */
export function readOf(format: Format, renderings: Renderings): number {
  return PROBES.filter(({ calls }) => {
    const shown = renderings.reply(calls)
    return shown !== undefined && reads(format, shown.text, calls, "whole")
  }).length
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, "")
}

/** Whether a text is read as these calls and nothing else, cut in this way. */
export function reads(format: Format, text: string, calls: readonly ToolCall[], cut: string): boolean {
  const parser = createParser(format, [], { tools: probeTools() })
  const events = cutText(text, cut).flatMap((piece) => parser.push(piece))
  const { calls: found } = collectReply([...events, ...parser.end()])
  return (
    found.length === calls.length &&
    found.every(
      ({ name, arguments: args }, index) => name === calls[index]!.name && same(args, calls[index]!.arguments),
    )
  )
}

function same(one: unknown, other: unknown): boolean {
  return sortedJson(one) === sortedJson(other)
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
