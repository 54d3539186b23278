import { CallWriter } from "../call-writer.ts"
import { isNamePart, skipSpace } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, STARVED, type Scan, type Source } from "../source.ts"
import type { PythonSyntax } from "../syntax.ts"
import { scanValue, type Notation } from "../value.ts"
import { resync, type Codec, type ReadContext } from "./codec.ts"

const LONGEST_NAME = 256
/** Texts may lack their quotes; that is a repair. */
const NOTATION: Notation = { python: true, bareTexts: true }
const SIMPLE_KEY = /^[^\s=:,{}()"'][^=:,{}()]*$/

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

function* readPython(
  session: Session,
  { nameSuffix = "", recovery }: PythonSyntax,
  context: ReadContext,
): Scan<boolean> {
  const { source } = session
  const name = yield* readName(source)
  if (name === "" || (yield* source.wait()) !== 40) return false
  source.at++
  const call = new CallWriter(session, context.start)
  call.name = nameSuffix !== "" && name.endsWith(nameSuffix) ? name.slice(0, -nameSuffix.length) : name
  if (context.bare) {
    if (session.tools === undefined ? recovery === true : !session.tools.has(call.name)) return false
    const start = source.mark()
    yield* skipSpace(source)
    const key = yield* readName(source)
    const next = yield* source.wait()
    const plausible =
      next === 41
        ? key === ""
        : next === 61 || (key !== "" && next === 32) || (session.tools !== undefined && (next === 34 || next === 39))
    source.rewind(start)
    source.release()
    if (!plausible) return false
  }
  context.commit()
  const outcome = yield* scanValue(source, NOTATION, call, context.closers, "call")
  if (outcome === "done") call.finish()
  else {
    if (outcome === "invalid") yield* resync(source, context.closers)
    call.fail(
      outcome === "open" ? "unterminated-call" : "invalid-arguments",
      outcome === "open" ? "The reply ends inside the call." : "The arguments are not Python keyword arguments.",
    )
  }
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
