import { CallWriter } from "../call-writer.ts"
import { escapeText, spacedJson } from "../json-text.ts"
import { anyLiteral, isNamePart, literal, skipSpace, textUntil } from "../scanning.ts"
import { parameterSchema } from "../schema-types.ts"
import type { Session } from "../session.ts"
import { END, type Scan, type Source } from "../source.ts"
import type { NamedSyntax } from "../syntax.ts"
import { JSON_NOTATION, scanValue } from "../value.ts"
import { Beginnings, scanText } from "./raw-text.ts"
import { settle, type Codec, type ReadContext } from "./codec.ts"

const BRACE = 123
/** With which `functions.` begins. */
const LETTER_F = 102
const LONGEST_NAME = 256
const NEVER_IN_NAME = '<>{}[]"\n'
const COUNTER = /^(?:functions\.)?:?\d+$/
const KIMI_NAME = /^(?:functions\.)?(.+?)(?::\d+)?$/s

/** The tool's name between marks, then its arguments as a JSON object. */
export const named: Codec<NamedSyntax> = {
  openings: ({ open, atStart }) => (atStart === true ? open.filter((mark) => mark !== "") : open),
  marks: ({ close, idMark }) => [...close, ...(idMark === undefined ? [] : [idMark])],
  between: "",
  read: readNamed,
  print(call, { open, middle, close, idMark, idBefore, nameForm }) {
    const name =
      nameForm === "kimi"
        ? kimiId(call.id, call.name)
        : idBefore === undefined
          ? call.name
          : `${call.id}${idBefore}${call.name}`
    const id = idMark === undefined ? "" : `${idMark}${call.id}`
    return `${open[0] ?? ""}${name}${id}${middle[0] ?? ""}${spacedJson(call.arguments)}${close[0] ?? ""}`
  },
}

/** The id as the family writes it; one of another family would end up in the prompt and mislead the model. */
function kimiId(id: string, name: string): string {
  return id.startsWith(`functions.${name}:`) && /:\d+$/.test(id)
    ? id
    : `functions.${name}:${/(\d+)$/.exec(id)?.[1] ?? "0"}`
}

/**
 * Whether the name of a tool on offer, or without tools anything like a name, stands here as it may at the beginning of
 * a reply; reads nothing.
 */
function* offered({ source, tools }: Session, { atStart }: NamedSyntax): Scan<boolean> {
  const onLine = atStart === true
  if (atStart === undefined || (!onLine && tools === undefined)) return false
  let code = yield* source.wait()
  // most replies begin with a text, and with no tool's name
  if (tools !== undefined && !mayBeginName(tools, code)) return false
  const names = tools === undefined ? undefined : [...tools.keys()].flatMap((name) => [name, `functions.${name}`])
  const start = source.mark()
  let name = ""
  while (code !== END && name.length < LONGEST_NAME && mayGoOn(name + String.fromCharCode(code), names)) {
    name += String.fromCharCode(code)
    source.at++
    code = yield* source.wait()
  }
  const known = names === undefined ? name !== "" : names.includes(name)
  const stands = known && (onLine ? code === 10 : yield* beforeObject(source, tools))
  source.rewind(start)
  source.release()
  return stands
}

function mayBeginName(tools: NonNullable<Session["tools"]>, code: number): boolean {
  if (code === LETTER_F) return true
  for (const name of tools.keys()) if (name.charCodeAt(0) === code) return true
  return false
}

function mayGoOn(name: string, names: readonly string[] | undefined): boolean {
  return names === undefined ? isNamePart(name.charCodeAt(name.length - 1)) : names.some((one) => one.startsWith(name))
}

/**
 * Whether the arguments follow as a JSON object, a counter before it aside; one that names a tool is a call of its own.
 */
function* beforeObject(source: Source, tools: Session["tools"]): Scan<boolean> {
  let code = yield* source.wait()
  while (code === 58 || (code >= 48 && code <= 57)) {
    source.at++
    code = yield* source.wait()
  }
  yield* skipSpace(source)
  yield* anyLiteral(source, ["```json", "```"])
  if ((yield* skipSpace(source)) !== 123) return false
  source.at++
  code = yield* skipSpace(source)
  if (code !== 34 || !(yield* literal(source, '"name" : "'))) return code === 34 || code === 125
  const name = yield* textUntil(source, ['"'], LONGEST_NAME)
  return name === undefined || tools?.has(name) !== true
}

/** All up to the call's end, as the text of one argument. */
function* readTextArgument(source: Source, call: CallWriter, name: string, ends: readonly string[]): Scan<undefined> {
  let text = ""
  const write = (piece: string) => (text += piece)
  const isWhole = yield* scanText(source, new Beginnings(ends), () => anyStands(source, ends), false, write)
  if (isWhole) {
    const isTaken = text.trim() !== "" || call.tool === undefined || parameterSchema(call.tool, name) !== undefined
    if (isTaken) call.write(`{"${escapeText(name)}":"${escapeText(text.trim())}"}`)
    call.finish()
  } else call.cutOff("the call")
}

function* anyStands(source: Source, ends: readonly string[]): Scan<boolean> {
  return (yield* anyLiteral(source, ends)) !== undefined
}

function* readNamed(session: Session, syntax: NamedSyntax, context: ReadContext): Scan<boolean> {
  const { source } = session
  if (!(yield* opens(session, syntax, context))) return false
  const call = new CallWriter(session, context.start)
  const written = yield* readName(source, syntax, call)
  if (written === undefined) {
    if (context.atStart || (yield* source.wait()) !== END) return false
    return cutOff(call, context)
  }
  if (!mayBeName(written, session, syntax, context)) return false
  const unnamed = takeName(written, session, syntax, call)
  yield* readIdBehind(source, syntax, call)
  yield* anyLiteral(source, syntax.middle)
  const next = yield* skipSpace(source)
  if (next !== BRACE) return yield* readOther(source, syntax, call, context)
  context.commit()
  const outcome = yield* scanValue(source, JSON_NOTATION, call, context.closers)
  if (unnamed && outcome === "done") call.nameByArguments()
  yield* settle(source, call, outcome, context.closers, "The arguments are not valid JSON.")
  if ((yield* anyLiteral(source, syntax.close)) !== undefined) session.account("framing", source.offset)
  return true
}

/** Whether a call begins here; its opening mark is read. */
function* opens(session: Session, syntax: NamedSyntax, context: ReadContext): Scan<boolean> {
  if (context.atStart) return yield* offered(session, syntax)
  const marks = context.wrapped ? [...syntax.open, ...(syntax.openInWrapper ?? [])] : syntax.open
  return (yield* anyLiteral(session.source, marks)) !== undefined
}

/** What stands where the name belongs, and the id before it; undefined where that does not end. */
function* readName(source: Source, syntax: NamedSyntax, call: CallWriter): Scan<string | undefined> {
  if (syntax.idBefore !== undefined) {
    call.id = yield* textUntil(source, [syntax.idBefore], LONGEST_NAME, NEVER_IN_NAME)
    yield* literal(source, syntax.idBefore)
  }
  const behind = syntax.idMark === undefined ? [] : [syntax.idMark]
  const closing = syntax.close.filter((mark) => mark.trim() !== "")
  const written = yield* textUntil(source, [...behind, ...syntax.middle, "{", ...closing], LONGEST_NAME, NEVER_IN_NAME)
  return written?.trim()
}

function mayBeName(name: string, { tools }: Session, syntax: NamedSyntax, { atStart }: ReadContext): boolean {
  if (name === "" || (atStart && syntax.atStart === true && tools?.has(name) === false)) return false
  return syntax.offered !== true || tools?.has(name) === true
}

/**
 * Gives the call its name, and its id where that is one with it.
 *
 * @returns whether the model wrote a counter where the name belongs, so that the arguments must say which tool is meant
 */
function takeName(written: string, { tools }: Session, syntax: NamedSyntax, call: CallWriter): boolean {
  if (syntax.nameForm !== "kimi") {
    call.name = written
    return false
  }
  if (/:\d+$/.test(written)) call.id = written
  if (tools?.has(written) === false && COUNTER.test(written)) return true
  call.name = KIMI_NAME.exec(written)?.[1] ?? written
  return false
}

function* readIdBehind(source: Source, syntax: NamedSyntax, call: CallWriter): Scan<undefined> {
  if (syntax.idMark !== undefined && (yield* literal(source, syntax.idMark)))
    call.id = (yield* textUntil(source, [...syntax.middle, "{"], LONGEST_NAME))?.trim()
}

/** What follows a name where no object does: text as the only argument, a call without arguments, or its end. */
function* readOther(source: Source, syntax: NamedSyntax, call: CallWriter, context: ReadContext): Scan<boolean> {
  const isOver = (yield* source.wait()) === END
  if (syntax.textArgument !== undefined && !isOver) {
    context.commit()
    yield* readTextArgument(source, call, syntax.textArgument, context.closers)
    return true
  }
  if (context.atStart) return false
  if ((yield* anyLiteral(source, syntax.close)) !== undefined) {
    context.commit()
    call.finish()
    return true
  }
  return isOver && cutOff(call, context)
}

function cutOff(call: CallWriter, context: ReadContext): true {
  context.commit()
  call.cutOff("the call")
  return true
}
