import { CallWriter } from "../call-writer.ts"
import { escapeText, spacedJson } from "../json-text.ts"
import { isNamePart, skipSpace } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, STARVED, type Scan, type Source } from "../source.ts"
import type { EnvelopeSyntax } from "../syntax.ts"
import { JSON_NOTATION, scanValue, transcode, type Outcome } from "../value.ts"
import { resync, type Codec, type ReadContext } from "./codec.ts"

const NAME_KEYS = new Set(["name", "tool", "tool_name", "function_name"])
const ARGUMENT_KEYS = new Set(["arguments", "args", "parameters", "params", "input", "tool_input"])
const ID_KEYS = new Set(["id", "tool_call_id", "call_id"])
const NAME = /^[A-Za-z_][\w.-]*$/
/** Longest member that may come before a call is recognised where nothing marks it, in code units. */
const LOOKAHEAD = 256

/** A JSON object that holds the tool's name and its arguments. */
export const envelope: Codec<EnvelopeSyntax> = {
  openings: () => [],
  marks: () => [],
  between: "[],;",
  read: readEnvelope,
  print(call, { keys, nameAsKey, idFirst }) {
    if (nameAsKey === true) return spacedJson({ [call.name]: call.arguments })
    const id = keys.id === undefined ? {} : { [keys.id]: call.id }
    return spacedJson(
      idFirst === true
        ? { ...id, [keys.name]: call.name, [keys.arguments]: call.arguments }
        : { [keys.name]: call.name, [keys.arguments]: call.arguments, ...id },
    )
  },
}

function* readEnvelope(session: Session, syntax: EnvelopeSyntax, context: ReadContext): Scan<boolean> {
  const { source } = session
  if ((yield* source.wait()) !== 123) return false
  source.at++
  const call = new CallWriter(session, context.start)
  let committed = false
  const commit = () => {
    if (!committed) context.commit()
    committed = true
  }
  if (!context.bare && syntax.nameAsKey !== true) commit()
  let depth = 1
  if (committed && (yield* skipSpace(source)) === 123) {
    // brackets doubled, as in templates that escape them
    source.at++
    depth++
    call.repaired("doubled brackets")
  }
  let outcome: Outcome = "done"
  let wrong = "The call is not a JSON object with the tool's name and its arguments."
  members: while (depth > 0) {
    const code = yield* skipSpace(source)
    if (code === END) {
      outcome = "open"
      break
    }
    source.at++
    if (code === 125) {
      depth--
      continue
    }
    if (code === 44) continue
    source.at--
    const key = code === 34 || code === 39 || isNamePart(code) ? yield* readText(source, LOOKAHEAD) : undefined
    if (key === undefined || (yield* skipSpace(source)) !== 58) {
      outcome = (yield* source.wait()) === END ? "open" : "invalid"
      break
    }
    source.at++
    const value = yield* skipSpace(source)
    if (value === END) {
      outcome = "open"
      break
    }
    if (syntax.nameAsKey === true && depth === 1 && value === 123) {
      if (context.bare && session.tools?.has(key) !== true) return false
      call.name = key
      commit()
      outcome = yield* scanValue(source, JSON_NOTATION, call, context.closers)
    } else if (value === 123 && key === "function") {
      source.at++
      depth++
    } else if (NAME_KEYS.has(key) || (key === "function" && call.name === undefined)) {
      const name = yield* readText(source, context.bare && !committed ? LOOKAHEAD : 100_000)
      if (name === undefined) {
        outcome = (yield* source.wait()) === END ? "open" : "invalid"
        break
      }
      call.name = name
      if (call.hasArguments) call.write("")
    } else if (ARGUMENT_KEYS.has(key) && !call.hasArguments) {
      if (context.bare && call.name !== undefined && !mayBeCalled(session, call.name)) return false
      if (context.bare && call.name === undefined && value !== 123) return false
      commit()
      outcome = yield* readArguments(source, call, context)
    } else if (ID_KEYS.has(key)) {
      const quoted = value === 34 || value === 39
      if (quoted) call.id = yield* readText(source, LOOKAHEAD)
      else
        outcome = yield* scanValue(source, JSON_NOTATION, {
          write: (json) => (call.id = (call.id ?? "") + json),
          repaired: () => {},
        })
    } else if (context.bare && !committed && key !== "type") return false
    else {
      if (context.bare && !committed) {
        if ((yield* readText(source, LOOKAHEAD)) === undefined) return false
      } else outcome = yield* scanValue(source, JSON_NOTATION, { write() {}, repaired() {} }, context.closers)
      if (key !== "type" && key !== "description") call.repaired(`an unknown member '${key}'`)
    }
    if (outcome !== "done") {
      wrong = outcome === "open" ? "The reply ends inside the call." : `The value of '${key}' is not valid JSON.`
      break members
    }
  }
  if (!committed) {
    // a lone name is a call of a tool that needs nothing more
    if (
      outcome !== "done" ||
      call.name === undefined ||
      !mayBeCalled(session, call.name) ||
      syntax.recovery === true ||
      !NAME.test(call.name)
    )
      return false
    if ((call.tool?.parameters.required ?? []).length > 0) return false
    commit()
  }
  if (outcome === "done") call.finish()
  else if (call.name !== undefined && call.hasArguments && call.complete)
    call.finish({ kind: "unterminated-call", message: "The call's closing bracket is missing." })
  else {
    if (outcome === "invalid") yield* resync(source, context.closers)
    call.fail(outcome === "open" ? "unterminated-call" : "invalid-arguments", wrong)
  }
  return true
}

function mayBeCalled(session: Session, name: string): boolean {
  return session.tools === undefined || session.tools.has(name) || session.format.generic === true
}

/** Arguments as an object, as a string that holds one, or nothing. */
function* readArguments(source: Source, call: CallWriter, context: ReadContext): Scan<Outcome> {
  const code = yield* source.wait()
  call.complete = false
  if (code === 34 || code === 39) {
    let text = ""
    const outcome = yield* scanValue(
      source,
      JSON_NOTATION,
      { write: (json) => (text += json), repaired: (what) => call.repaired(what) },
      context.closers,
    )
    if (outcome !== "done") return outcome
    const inner = JSON.parse(text) as string
    const json = inner.trim() === "" ? "{}" : transcode(inner, JSON_NOTATION, (what) => call.repaired(what))
    if (json === undefined) return "invalid"
    call.write(json)
  } else if (code === 123) {
    const outcome = yield* scanValue(source, JSON_NOTATION, call, context.closers)
    if (outcome !== "done") return outcome
  } else {
    let text = ""
    const outcome = yield* scanValue(
      source,
      JSON_NOTATION,
      { write: (json) => (text += json), repaired() {} },
      context.closers,
    )
    if (outcome !== "done") return outcome
    if (text !== "null" && text.replace(/\s/g, "") !== "[]") return "invalid"
    call.write("{}")
  }
  call.complete = true
  return "done"
}

/** A string in quotes, decoded, or a bare word; undefined when it is neither, too long, or cut off. */
function* readText(source: Source, limit: number): Scan<string | undefined> {
  const quote = yield* source.wait()
  let text = ""
  if (quote !== 34 && quote !== 39) {
    for (;;) {
      let code = source.peek()
      if (code === STARVED) code = yield* source.wait()
      if (code === END || text.length > limit) return undefined
      if (code === 58 || code === 44 || code === 123 || code === 125 || code === 32 || code === 10)
        return text === "" ? undefined : text
      text += source.text[source.at] ?? ""
      source.at++
    }
  }
  source.at++
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END || text.length > limit) return undefined
    source.at++
    if (code === quote) break
    if (code === 92) {
      const next = yield* source.wait()
      if (next === END) return undefined
      source.at++
      text += next === 39 ? "'" : `\\${String.fromCharCode(next)}`
    } else text += escapeText(String.fromCharCode(code))
  }
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}
