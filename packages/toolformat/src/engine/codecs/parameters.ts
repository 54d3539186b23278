import type { ToolDefinition } from "@toolwright/toolbox"
import { CallWriter } from "../call-writer.ts"
import { coerce, isText, printText, type Typing } from "../coerce.ts"
import { escapeText } from "../json-text.ts"
import { anyLiteral, literal, looksAt, skipSpace, stands, textUntil } from "../scanning.ts"
import { parameterSchema } from "../schema-types.ts"
import type { Session } from "../session.ts"
import { END, type Scan } from "../source.ts"
import type { ParametersSyntax } from "../syntax.ts"
import { JSON_NOTATION, scanValue } from "../value.ts"
import { resync, type Codec, type ReadContext } from "./codec.ts"
import { firstsOf, scanText } from "./raw-text.ts"

const LONGEST_NAME = 256
const LONGEST_KEY = 1_000
const PLAIN_NAME = /^[^\s<>{}[\]"'`]+$/

/** Parameters between tags. What stands between two tags is the value, character for character. */
export const parameters: Codec<ParametersSyntax> = {
  openings: ({ call }) => call.open,
  marks: ({ call }) => call.close,
  between: "",
  read: readParameters,
  print(call, syntax, tool, index) {
    const { afterName = "", afterParameter = "" } = syntax.lines ?? {}
    const body = Object.entries(call.arguments).map(
      ([key, value]) => printParameter(key, value, syntax, tool) + afterParameter,
    )
    return `${syntax.call.open[0] ?? ""}${call.name}${(syntax.call.nameEnd[0] ?? "").replace("{index}", String(index + 1))}${afterName}${body.join("")}${syntax.call.close[0] ?? ""}`
  },
}

function printParameter(
  key: string,
  value: unknown,
  syntax: ParametersSyntax,
  tool: ToolDefinition | undefined,
): string {
  const { parameter, framed, cdata, typed } = syntax
  const typing = typingOf(tool, key)
  let text = typeof value === "string" && typed !== undefined ? value : printText(value, typing)
  if (cdata === true && /[<&\n]/.test(text) && !text.includes("]]>")) text = `<![CDATA[${text}]]>`
  const attribute =
    typed === undefined
      ? ""
      : ` ${typed.attribute}="${typed.attribute === "string" ? typeof value === "string" : typeName(value)}"${typed.end}`
  // an attribute follows the key's own closing quote
  const keyEnd = typed === undefined ? (parameter.keyEnd[0] ?? "") : `"${attribute}`
  const line = framed === true ? "\n" : ""
  return `${parameter.open[0] ?? ""}${key}${keyEnd}${line}${text}${line}${parameter.close[0] ?? ""}`
}

function typeName(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

function typingOf(tool: ToolDefinition | undefined, key: string): Typing | undefined {
  const schema = parameterSchema(tool, key)
  return schema === undefined || tool === undefined ? undefined : { schema, root: tool.parameters }
}

function* readParameters(session: Session, syntax: ParametersSyntax, context: ReadContext): Scan<boolean> {
  const { source } = session
  const { call: tags, parameter } = syntax
  const wrapperClose = syntax.wrapper?.close ?? []
  const wrapperOpen = syntax.wrapper?.open ?? []
  const unnamed = tags.open.length === 0
  if (!unnamed && (yield* anyLiteral(source, tags.open)) === undefined) return false
  const nameStops = unnamed
    ? [...tags.nameEnd.filter((mark) => mark.trim() !== ""), ...parameter.open, ...wrapperClose]
    : tags.nameEnd
  const name = yield* textUntil(source, unnamed ? [...nameStops, "\n"] : nameStops, LONGEST_NAME, "<{}\n")
  const call = new CallWriter(session, context.start)
  if (name === undefined) {
    if ((yield* source.wait()) !== END || source.offset === context.start) return false
    context.commit()
    call.fail("unterminated-call", "The reply ends inside the call.")
    return true
  }
  call.name = name.trim()
  if (call.name === "" || (unnamed && !PLAIN_NAME.test(call.name))) return false
  yield* anyLiteral(source, tags.nameEnd)
  if (tags.attributesEnd !== undefined && (yield* textUntil(source, [tags.attributesEnd], LONGEST_NAME)) !== undefined)
    yield* literal(source, tags.attributesEnd)
  /** What can follow a value's end; after anything else, the mark was part of the value. */
  const after = [...parameter.open, ...tags.close, ...wrapperClose, ...tags.open, ...wrapperOpen]
  const atEnd = [...wrapperClose, ...tags.open, ...wrapperOpen]
  const seen = new Set<string>()
  let committed = false
  for (;;) {
    const code = yield* skipSpace(source)
    if ((yield* anyLiteral(source, parameter.open)) !== undefined) {
      if (!committed) context.commit()
      committed = true
      const read = yield* readParameter()
      if (read) continue
      if ((yield* source.wait()) !== END) yield* resync(source, context.closers)
      call.fail("unterminated-call", "A parameter does not end.")
      return true
    }
    if (!committed && code === 123 && syntax.typed !== undefined) {
      // all arguments as one object, in place of the parameters
      context.commit()
      const outcome = yield* scanValue(source, JSON_NOTATION, call, context.closers)
      if (outcome === "done") {
        yield* skipSpace(source)
        yield* anyLiteral(source, tags.close)
        call.repaired("an object in place of parameters")
        call.finish()
      } else {
        if (outcome === "invalid") yield* resync(source, context.closers)
        call.fail(
          outcome === "open" ? "unterminated-call" : "invalid-arguments",
          outcome === "open" ? "The reply ends inside the call." : "The arguments are not valid JSON.",
        )
      }
      return true
    }
    if (!committed) {
      const plausible = code === END || (yield* stands(source, [...tags.close, ...wrapperClose]))
      if (!plausible) return false
      context.commit()
      committed = true
    }
    if ((yield* anyLiteral(source, tags.close)) !== undefined) break
    if (yield* stands(source, atEnd)) {
      if (tags.close.length > 0) call.repaired(`a missing '${tags.close[0] ?? ""}'`)
      break
    }
    if (code === END) return endEarly()
    // text that belongs to nothing
    call.repaired("text between parameters")
    yield* resync(source, [...parameter.open, ...tags.close, ...atEnd])
  }
  if (call.hasArguments && !call.complete) call.write("}")
  call.finish()
  return true

  /**
   * The reply is over before the call is: it counts only where no further parameter can have been meant, since a call
   * with fewer arguments is another call.
   */
  function endEarly(): boolean {
    const { properties = {}, additionalProperties } = call.tool?.parameters ?? {}
    const missing = Object.keys(properties).filter((key) => !seen.has(key))
    const open = call.tool === undefined || additionalProperties === true || typeof additionalProperties === "object"
    if (seen.size === 0 || missing.length > 0 || open) {
      call.fail(
        "unterminated-call",
        missing.length > 0
          ? `The reply ends inside the call; ${missing.join(", ")} could still have come.`
          : "The reply ends inside the call.",
      )
      return true
    }
    call.write("}")
    call.finish({ kind: "unterminated-call", message: "The reply ends before the call's closing mark." })
    return true
  }

  function* readParameter(): Scan<boolean> {
    const written = yield* textUntil(source, syntax.typed === undefined ? parameter.keyEnd : ['"'], LONGEST_KEY)
    if (written === undefined) return false
    const key =
      typingOf(call.tool, written) === undefined && typingOf(call.tool, written.trim()) !== undefined
        ? written.trim()
        : written
    let said: string | undefined
    if (syntax.typed === undefined) yield* anyLiteral(source, parameter.keyEnd)
    else {
      source.at++
      const attributes = yield* textUntil(source, [syntax.typed.end], LONGEST_KEY)
      if (attributes === undefined) return false
      yield* literal(source, syntax.typed.end)
      said = new RegExp(`${syntax.typed.attribute}\\s*=\\s*"?([^"\\s]*)`).exec(attributes)?.[1]
    }
    const typing = typingOf(call.tool, key)
    const text = said === "true" || said === "string" || (said === undefined && isText(typing))
    const whole = said === "false" && key === "arguments" && seen.size === 0 && typing === undefined
    if (!whole) call.write(`${seen.size === 0 ? "{" : ","}"${escapeText(key)}":${text ? '"' : ""}`)
    seen.add(key)
    if (syntax.framed === true) {
      if ((yield* source.wait()) === 13) source.at++
      if ((yield* source.wait()) === 10) source.at++
    }
    const quoted = syntax.cdata === true && (yield* literal(source, "<![CDATA["))
    let buffered = ""
    const write = (piece: string) => {
      if (text) call.write(escapeText(piece))
      else buffered += piece
    }
    const ended = quoted
      ? yield* scanText(source, "]", () => literal(source, "]]>"), false, write)
      : yield* scanText(source, firstsOf([...parameter.close, ...after]), valueEnds, syntax.framed === true, write)
    if (!ended) return false
    if (quoted) yield* anyLiteral(source, parameter.close)
    if (text) call.write('"')
    else if (whole) {
      const object = coerce(buffered, { schema: { type: "object" }, root: {} })
      if (object.startsWith("{")) {
        call.write(object)
        call.complete = true
      } else call.write(`{"arguments":${object}`)
    } else
      call.write(
        coerce(buffered, typing ?? (said === undefined ? undefined : { schema: {}, root: {} }), (what) =>
          call.repaired(what),
        ),
      )
    return true
  }

  /** Whether the value ends here: at its closing mark, or at what comes after where that is missing. */
  function* valueEnds(): Scan<boolean> {
    const start = source.mark()
    let ends = false
    if ((yield* anyLiteral(source, parameter.close)) !== undefined) {
      const behind = source.offset
      ends = (yield* skipSpace(source)) === END || (yield* stands(source, after))
      source.rewind(ends ? behind : start)
    } else if ((yield* anyLiteral(source, parameter.open)) !== undefined) {
      const key = yield* textUntil(source, syntax.typed === undefined ? parameter.keyEnd : ['"'], 64)
      ends = key !== undefined && !seen.has(key) && typingOf(call.tool, key) !== undefined
      source.rewind(start)
    } else if ((yield* anyLiteral(source, tags.close)) !== undefined) {
      ends = (yield* skipSpace(source)) === END || (yield* stands(source, atEnd))
      source.rewind(start)
    } else if ((yield* anyLiteral(source, wrapperClose)) !== undefined) {
      ends = (yield* skipSpace(source)) === END || (yield* looksAt(source, wrapperOpen))
      source.rewind(start)
    }
    source.release()
    return ends
  }
}
