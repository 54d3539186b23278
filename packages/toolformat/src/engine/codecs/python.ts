import { CallWriter } from "../call-writer.ts"
import { anyLiteral, isNamePart, literal, skipSpace, textUntil } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, STARVED, type Scan, type Source } from "../source.ts"
import type { PythonSyntax } from "../syntax.ts"
import { scanValue, type Notation } from "../value.ts"
import { settle, type Codec, type ReadContext } from "./codec.ts"

const LONGEST_NAME = 256
const LONGEST_LINE = 4_000
/** Texts may lack their quotes; that is a repair. */
const NOTATION: Notation = { python: true, bareTexts: true }
const SIMPLE_KEY = /^[^\s=:,{}()"'][^=:,{}()]*$/
const PARENTHESIS = 40
const EQUALS = 61

/** A call as Python writes it: `name(key=value, …)`. */
export const python: Codec<PythonSyntax> = {
  openings: () => [],
  marks: () => [],
  between: "[],;",
  read: readPython,
  print: (call) =>
    `${call.name}(${Object.entries(call.arguments)
      .map(
        ([key, value]) =>
          `${SIMPLE_KEY.test(key) && key.trim() === key ? key : JSON.stringify(key)}=${pythonText(value)}`,
      )
      .join(", ")})`,
}

/** A value as a Python literal. */
export function pythonText(value: unknown): string {
  if (value === true) return "True"
  if (value === false) return "False"
  if (value === null || value === undefined) return "None"
  if (Array.isArray(value)) return `[${value.map(pythonText).join(", ")}]`
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}: ${pythonText(member)}`)
      .join(", ")}}`
  return JSON.stringify(value)
}

function* readPython(session: Session, syntax: PythonSyntax, context: ReadContext): Scan<boolean> {
  const { source, tools } = session
  const printed = syntax.code === true ? yield* skipCode(source) : 0
  const name = nameOf(yield* readName(source), syntax, session)
  const opens = name !== "" && (yield* source.wait()) === PARENTHESIS
  const unoffered = tools !== undefined && !tools.has(name)
  if (!opens || (syntax.recovery === true && syntax.code !== true && unoffered))
    return syntax.code === true && context.started && (yield* skipLine(session, context))
  source.at++
  const call = new CallWriter(session, context.start)
  call.name = name
  const isUnmarked = context.bare || syntax.atStart === true
  if (isUnmarked && !(yield* maybeCall(session, call.name, syntax))) return false
  context.commit()
  const wrong = "The arguments are not Python keyword arguments."
  yield* settle(source, call, yield* scanValue(source, NOTATION, call, context.closers, "call"), context.closers, wrong)
  for (let left = printed; left > 0 && (yield* literal(source, " )")); left--) session.account("framing", source.offset)
  return true
}

/** The tool's name of a name as written: without what built-in tools' names end in, or a module's name before it. */
function nameOf(written: string, { nameSuffix = "", code }: PythonSyntax, { tools }: Session): string {
  const name = nameSuffix !== "" && written.endsWith(nameSuffix) ? written.slice(0, -nameSuffix.length) : written
  const last = name.slice(name.lastIndexOf(".") + 1)
  return code === true && tools !== undefined && !tools.has(name) && tools.has(last) ? last : name
}

/** Whether what stands in a text without marks is a call, its `(` being read; reads nothing. */
function* maybeCall({ source, tools }: Session, name: string, { recovery }: PythonSyntax): Scan<boolean> {
  if (tools === undefined ? recovery === true : !tools.has(name)) return false
  const start = source.mark()
  yield* skipSpace(source)
  const key = yield* readName(source)
  const next = yield* source.wait()
  const plausible =
    next === 41
      ? key === ""
      : next === EQUALS || (key !== "" && next === 32) || (tools !== undefined && (next === 34 || next === 39))
  source.rewind(start)
  source.release()
  return plausible
}

/** What code does with a call's result before the call itself: `x =`, `print(`. Answers how many brackets it opened. */
function* skipCode(source: Source): Scan<number> {
  let brackets = 0
  for (;;) {
    const start = source.mark()
    const word = yield* readName(source)
    const next = word === "" ? END : yield* skipSpace(source)
    const known = next === EQUALS || (next === PARENTHESIS && word === "print")
    if (known) source.at++
    const more = known && (yield* source.wait()) !== EQUALS
    if (!more) source.rewind(start)
    source.release()
    if (!more) return brackets
    if (next === PARENTHESIS) brackets++
    yield* skipSpace(source)
  }
}

/** A line between calls in code that is none: it is told, since nothing here runs code. */
function* skipLine(session: Session, context: ReadContext): Scan<boolean> {
  const { source } = session
  source.rewind(context.start)
  if ((yield* anyLiteral(source, context.closers)) !== undefined) return false
  const line = yield* textUntil(source, ["\n", ...context.closers], LONGEST_LINE)
  if (line === undefined || line.trim() === "") return false
  context.commit()
  session.account("problem", source.offset)
  session.problem({
    kind: "extra-text",
    at: context.start,
    text: source.since(context.start),
    message: "Only the calls in the code count; this line is none.",
    repaired: false,
  })
  return true
}

/** Reads what can be a name; may be empty. */
function* readName(source: Source): Scan<string> {
  let name = ""
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END || !isNamePart(code) || name.length > LONGEST_NAME) return name
    name += source.text[source.at] ?? ""
    source.at++
  }
}
