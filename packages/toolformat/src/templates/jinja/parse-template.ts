import { placeOf, TemplateError } from "./errors.ts"
import { tokenize } from "./lexer.ts"
import type { Expression, FilterStep, Macro, Statement, Target, TemplateTree } from "./nodes.ts"
import { optionalArguments, parseDotted, parseExpression, parsePostfix, parseTuple } from "./parse-expression.ts"
import { describe, TokenCursor } from "./tokens.ts"

const OTHER_FILES = ["include", "import", "from", "extends", "block"]

/**
 * Parses a chat template: Jinja's statements, its loop controls, and the `generation` tag that marks the assistant's
 * part.
 *
 * @throws TemplateError `TEMPLATE_SYNTAX`, with line and column
 */
export function parseTemplate(template: string): TemplateTree {
  const tokenized = tokenize(template)
  const cursor = new TokenCursor(tokenized)
  try {
    const body = parseBody(cursor, [])
    if (!cursor.is("end")) cursor.fail(`Unexpected ${describe(cursor.current)}`)
    return { source: tokenized.source, body }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    throw new TemplateError(
      "TEMPLATE_LIMIT",
      "The template is nested too deeply",
      placeOf(cursor.source, cursor.current.at),
    )
  }
}

/** Statements up to a block whose first word is one of `ends`; stops at that word, the block's begin already read. */
function parseBody(cursor: TokenCursor, ends: string[]): Statement[] {
  const body: Statement[] = []
  for (;;) {
    const token = cursor.current
    if (token.kind === "end") {
      if (ends.length > 0) cursor.fail(`Unexpected end of template, expected '${ends.join("' or '")}'`)
      return body
    }
    cursor.next()
    if (token.kind === "data") body.push({ type: "text", text: token.text, at: token.at })
    else if (token.kind === "output-begin") {
      body.push({ type: "output", value: parseTuple(cursor), at: token.at })
      cursor.expect("output-end")
    } else if (token.kind === "block-begin") {
      if (ends.length > 0 && cursor.is("name", ...ends)) return body
      body.push(parseStatement(cursor, token.at))
    } else cursor.fail(`Unexpected ${describe(token)}`, token.at)
  }
}

/** The rest of a block tag, its body, and its end tag. */
function parseBlock(cursor: TokenCursor, end: string): Statement[] {
  cursor.expect("block-end")
  const body = parseBody(cursor, [end])
  cursor.expect("name", end)
  if (end === "endmacro" && cursor.is("name")) cursor.next()
  cursor.expect("block-end")
  return body
}

function parseStatement(cursor: TokenCursor, at: number): Statement {
  const word = cursor.expect("name").text
  switch (word) {
    case "if":
      return parseIf(cursor, at)
    case "for":
      return parseFor(cursor, at)
    case "set":
      return parseSet(cursor, at)
    case "macro":
      return { type: "macro", macro: parseMacro(cursor, at), at }
    case "call":
      return parseCall(cursor, at)
    case "filter": {
      const filters = [parseFilterStep(cursor), ...parseFilterSteps(cursor)]
      return { type: "filter-block", filters, body: parseBlock(cursor, "endfilter"), at }
    }
    case "with":
      return parseWith(cursor, at)
    case "generation":
      return { type: "scope", bindings: [], body: parseBlock(cursor, "endgeneration"), at }
    case "print": {
      const value = parseTuple(cursor)
      cursor.expect("block-end")
      return { type: "output", value, at }
    }
    case "break":
    case "continue":
      cursor.expect("block-end")
      return { type: word, at }
    default:
      return cursor.fail(
        OTHER_FILES.includes(word)
          ? `A chat template stands alone: '${word}' is not supported`
          : `Encountered unknown tag '${word}'.`,
        at,
      )
  }
}

function parseIf(cursor: TokenCursor, at: number): Statement {
  const branches: { test: Expression; body: Statement[] }[] = []
  let otherwise: Statement[] = []
  for (;;) {
    const test = parseTuple(cursor, false)
    cursor.expect("block-end")
    branches.push({ test, body: parseBody(cursor, ["elif", "else", "endif"]) })
    const word = cursor.next().text
    if (word === "elif") continue
    if (word === "else") {
      otherwise = parseBlock(cursor, "endif")
    } else cursor.expect("block-end")
    return { type: "if", branches, otherwise, at }
  }
}

function parseFor(cursor: TokenCursor, at: number): Statement {
  const target = parseTarget(cursor)
  cursor.expect("name", "in")
  const over = parseTuple(cursor, false, ["recursive"])
  const test = cursor.accept("name", "if") ? parseExpression(cursor) : undefined
  const recursive = cursor.accept("name", "recursive")
  cursor.expect("block-end")
  const body = parseBody(cursor, ["else", "endfor"])
  const otherwise = cursor.next().text === "else" ? parseBlock(cursor, "endfor") : (cursor.expect("block-end"), [])
  return { type: "for", target, over, test, recursive, body, otherwise, at }
}

function parseSet(cursor: TokenCursor, at: number): Statement {
  const target = parseTarget(cursor)
  if (cursor.accept("operator", "=")) {
    const value = parseTuple(cursor)
    cursor.expect("block-end")
    return { type: "set", target, value, at }
  }
  const filters = parseFilterSteps(cursor)
  return { type: "set-block", target, filters, body: parseBlock(cursor, "endset"), at }
}

function parseCall(cursor: TokenCursor, at: number): Statement {
  const parameters = cursor.is("operator", "(") ? parseParameters(cursor) : []
  const { at: callAt } = cursor.current
  const call = parsePostfix(cursor, parseExpression(cursor))
  if (call.type !== "call") cursor.fail("Expected a call", callAt)
  return {
    type: "call-block",
    caller: { at, name: "caller", parameters, body: parseBlock(cursor, "endcall") },
    call,
    at,
  }
}

function parseWith(cursor: TokenCursor, at: number): Statement {
  const bindings: { target: Target; value: Expression }[] = []
  while (!cursor.is("block-end")) {
    if (bindings.length > 0) cursor.expect("operator", ",")
    const target = parseSingleTarget(cursor)
    cursor.expect("operator", "=")
    bindings.push({ target, value: parseExpression(cursor) })
  }
  return { type: "scope", bindings, body: parseBlock(cursor, "endwith"), at }
}

function parseMacro(cursor: TokenCursor, at: number): Macro {
  const name = cursor.expect("name").text
  const parameters = parseParameters(cursor)
  return { at, name, parameters, body: parseBlock(cursor, "endmacro") }
}

function parseParameters(cursor: TokenCursor): Macro["parameters"] {
  const parameters: Macro["parameters"] = []
  cursor.expect("operator", "(")
  while (!cursor.accept("operator", ")")) {
    if (parameters.length > 0) cursor.expect("operator", ",")
    const name = cursor.expect("name").text
    parameters.push({ name, fallback: cursor.accept("operator", "=") ? parseExpression(cursor) : undefined })
  }
  return parameters
}

function parseFilterSteps(cursor: TokenCursor): FilterStep[] {
  const steps: FilterStep[] = []
  while (cursor.accept("operator", "|")) steps.push(parseFilterStep(cursor))
  return steps
}

function parseFilterStep(cursor: TokenCursor): FilterStep {
  const { at } = cursor.current
  return { at, name: parseDotted(cursor), args: optionalArguments(cursor) }
}

function parseTarget(cursor: TokenCursor): Target {
  const { at } = cursor.current
  const items = [parseSingleTarget(cursor)]
  let isTuple = false
  while (cursor.accept("operator", ",")) {
    isTuple = true
    if (!(cursor.is("name") || cursor.is("operator", "(")) || cursor.is("name", "in")) break
    items.push(parseSingleTarget(cursor))
  }
  return isTuple ? { type: "tuple", items, at } : items[0]!
}

function parseSingleTarget(cursor: TokenCursor): Target {
  const { at } = cursor.current
  if (cursor.accept("operator", "(")) {
    const inner = parseTarget(cursor)
    cursor.expect("operator", ")")
    return inner
  }
  const name = cursor.expect("name").text
  if (!cursor.accept("operator", ".")) return { type: "name", name, at }
  return { type: "member", object: name, name: cursor.expect("name").text, at }
}
