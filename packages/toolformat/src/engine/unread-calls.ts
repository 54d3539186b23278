/**
 * What of a reply's text is clearly a call that nobody read: in the syntax of a family that is not looked for, or in
 * one that no family has. Such text stays text; that nothing was called is told.
 */

export interface UnreadCall {
  /** Where it begins in the text, and how far it goes. */
  readonly at: number
  readonly end: number
  readonly name: string
}

/** What is known of calls here: the tools on offer, and the marks with which calls of any family begin. */
export interface CallSigns {
  readonly names: { has(name: string): boolean; keys(): Iterable<string> }
  readonly marks: readonly string[]
  /** The arguments that a tool takes, by their names. */
  readonly parameters?: (name: string) => readonly string[]
}

const FENCE = /^\s*```\s*([\w-]*)\s*$/
/** Languages of code blocks that hold calls and nothing else. */
const CALL_FENCES: ReadonlySet<string> = new Set(["tool_code", "tool_call", "tool_calls", "function_call"])
/** How far behind a mark the tool's name may stand, in code units. */
const NEAR = 80
const NAME_KEY = /"(?:name|tool|tool_name|function|action)"\s*:\s*"([^"\\\n]{1,128})"/
const ARGUMENTS_KEY = /"(?:arguments|args|parameters|params|input|tool_input|action_input)"\s*:/
const BEFORE_OBJECT = /^\s*(?:functions\.)?([\w.-]{1,128}?)(?::\d{1,6})?\s?\{\s*"/
/** The same where the object's keys lack their quotes, or where it is empty; the line holds nothing more. */
const BEFORE_BARE_KEYS =
  /^\s*(?:call:|functions\.)?([\w.-]{1,128}?)(?::\d{1,6})?\s?\{(?:\s*[A-Za-z_]\w{0,127}:[^]*)?\}\s*$/
/** A name with what a server left of the marks around it. */
const WORD_BEFORE_OBJECT = /(?:^|[^\w`"'.-])([\w.-]{1,128})\{(?:\s*"|\}\s*$)/
/** What a mark before the arguments says of their form. */
const CONSTRAINT = /json$/
/** An object to the end of its line. */
const OBJECT_AT_END = /(?:^|[^`])[[{]\s*[{"][^]*\}\s*[\])};,.]*\s*$/
const ACTION = /^Action:\s*([\w.-]{1,128})\s*$/
const CALLED = /([\w.-]{1,128})\s*\(/g
const ALONE = /^\[?([\w.-]{1,128})\(\s*(?:[A-Za-z_]\w*\s*=[^]*)?\)[\];]?$/
/** Python calls at the end of a line, in a list or behind a colon. */
const CALLS_AT_END = /(?:^|:\s|[^`\]]\[)\s*([\w.-]{1,128})\(\s*(?:[A-Za-z_]\w*\s*=[^]*)?\)[\];.]{0,2}\s*$/
/** Python calls in a list in the middle of a line. */
const LISTED_CALLS = /(?:^|[^`\w\])])\[([\w.-]{1,128})\(\s*(?:[A-Za-z_]\w*\s*=[^]*)?\)\](?!\()/
/** A tag of the tool's own name, as models write that invent their form. */
const NAMED_TAG = /^\s*<([\w.-]{1,128})(?:\s+[\w-]+\s*=|\s*\/?>\s*(?:[<{]|$))/
const NAME_ALONE = /^\s*([\w.-]{1,128})\s*$/
/** The recipient of a message, and the name as an attribute. */
const ADDRESSED = /(?:\bto=functions\.|(?:call tool|invoke name|function name)\s*=\s*["']?)([\w.-]{1,128})/
const BEFORE_TAG = /^\s*([\w.-]{1,128})<\w/

interface Line {
  readonly text: string
  readonly at: number
  readonly end: number
}

/** What a pattern cannot match without: most lines are prose, and none of the patterns need be tried on them. */
interface Punctuation {
  /** Of an object, or of a list of them. */
  readonly bracket: boolean
  readonly parenthesis: boolean
  readonly tag: boolean
  readonly equals: boolean
}

function punctuationOf(line: string): Punctuation {
  let [bracket, parenthesis, tag, equals] = [false, false, false, false]
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === 123 || code === 91) bracket = true
    else if (code === 40) parenthesis = true
    else if (code === 60) tag = true
    else if (code === 61) equals = true
  }
  return { bracket, parenthesis, tag, equals }
}

/** The calls in a text that was taken for no call, in order; linear in the text. */
export function unreadCalls(text: string, signs: CallSigns): UnreadCall[] {
  const alone = ALONE.exec(text.trim())?.[1]
  if (alone !== undefined && signs.names.has(alone)) return [{ at: 0, end: text.length, name: alone }]
  const lines = linesOf(text)
  const found: UnreadCall[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    const language = FENCE.exec(line.text)?.[1]
    const close = language === undefined ? index : closingFence(lines, index)
    const end = lines[close]?.end ?? text.length
    const call =
      language === undefined
        ? callOnLine(text, lines, index, signs)
        : callInFence(language, text.slice(line.end, end), signs.names)
    if (call !== undefined) found.push({ at: line.at, end: Math.max(end, call.end), name: call.name })
    index = close
    // What follows up to the tool's name belongs to the same call.
    while (index + 1 < lines.length && lines[index + 1]!.at < (call?.end ?? 0)) index++
  }
  return found
}

/** A tool that is called, and how far into the whole text its name reaches. */
interface Named {
  readonly name: string
  readonly end: number
}

/** Code in a block that holds calls and nothing else. */
function callInFence(language: string, body: string, names: CallSigns["names"]): Named | undefined {
  const name = CALL_FENCES.has(language) ? nameIn(body, names) : undefined
  return name === undefined ? undefined : { name, end: 0 }
}

function callOnLine(text: string, lines: readonly Line[], index: number, signs: CallSigns): Named | undefined {
  const { names, marks } = signs
  const marked = callAfterMark(text, lines[index]!, names, marks)
  if (marked !== undefined) return marked
  const { text: line } = lines[index]!
  const name =
    nameByPunctuation(line, names) ??
    nameOfTag(lines, index, names) ??
    nameOfAction(lines, index, names) ??
    nameOverKeys(lines, index, signs)
  return name === undefined ? undefined : { name, end: 0 }
}

/** The tool that a line calls by itself, sought only by the patterns whose signs stand in it. */
function nameByPunctuation(line: string, names: CallSigns["names"]): string | undefined {
  const has = punctuationOf(line)
  return (
    (has.bracket ? (nameInObject(line, names) ?? nameBeforeObject(line, names)) : undefined) ??
    (has.equals ? offered(ADDRESSED, line, names) : undefined) ??
    (has.tag ? offered(BEFORE_TAG, line, names) : undefined) ??
    (has.parenthesis ? (offered(CALLS_AT_END, line, names) ?? offered(LISTED_CALLS, line, names)) : undefined)
  )
}

/** The first group of a pattern, where a tool on offer is called so. */
function offered(pattern: RegExp, text: string, names: CallSigns["names"]): string | undefined {
  const name = pattern.exec(text)?.[1]
  return name !== undefined && names.has(name) ? name : undefined
}

function linesOf(text: string): Line[] {
  let at = 0
  return text.split("\n").map((line) => {
    const from = at
    at += line.length + 1
    return { text: line, at: from, end: from + line.length }
  })
}

/** The line that closes the block of code begun at a line; beyond the last where none does. */
function closingFence(lines: readonly Line[], from: number): number {
  const index = lines.findIndex(({ text }, at) => at > from && /^\s*```\s*$/.test(text))
  return index < 0 ? lines.length : index
}

/** A tool that is called in a text, as a function or as the name of an object. */
function nameIn(text: string, names: CallSigns["names"]): string | undefined {
  for (const [, name] of text.matchAll(CALLED)) if (names.has(name!)) return name
  const named = NAME_KEY.exec(text)?.[1]
  return named !== undefined && names.has(named) ? named : undefined
}

/** A mark at the beginning of a line, and a tool's name soon after it. */
function callAfterMark(
  text: string,
  { at, text: line }: Line,
  names: CallSigns["names"],
  marks: readonly string[],
): Named | undefined {
  const start = at + line.length - line.trimStart().length
  const first = text.charCodeAt(start)
  const mark = marks.find((candidate) => candidate.charCodeAt(0) === first && text.startsWith(candidate, start))
  if (mark === undefined) return undefined
  const from = start + mark.length
  for (const word of text.slice(from, from + NEAR).matchAll(/[\w.-]+/g)) {
    const name = [word[0], word[0].split(".")[0]!].find((one) => names.has(one))
    if (name !== undefined) return { name, end: from + word.index + word[0].length }
  }
  return undefined
}

function nameInObject(line: string, names: CallSigns["names"]): string | undefined {
  const before = offered(BEFORE_OBJECT, line, names)
  if (before !== undefined) return before
  if (!ARGUMENTS_KEY.test(line) || !(/^\s*[[{]/.test(line) || OBJECT_AT_END.test(line))) return undefined
  return offered(NAME_KEY, line, names)
}

/** A name before an object whose keys have no quotes, or a name that nothing separates from what stands before it. */
function nameBeforeObject(line: string, names: CallSigns["names"]): string | undefined {
  const bare = offered(BEFORE_BARE_KEYS, line, names)
  if (bare !== undefined) return bare
  const word = WORD_BEFORE_OBJECT.exec(line)?.[1]?.replace(CONSTRAINT, "")
  return word === undefined ? undefined : [...names.keys()].find((name) => word.endsWith(name) || word.startsWith(name))
}

/** A tag of the tool's own name; where it stands alone on its line, another tag or an object follows. */
function nameOfTag(lines: readonly Line[], index: number, names: CallSigns["names"]): string | undefined {
  const name = offered(NAMED_TAG, lines[index]!.text, names)
  if (name === undefined || !/^\s*<[\w.-]+\s*>\s*$/.test(lines[index]!.text)) return name
  return /^\s*[<{]/.test(lines[index + 1]?.text ?? "") ? name : undefined
}

/** A tool's name alone on its line, and on the next one its arguments, or the name of one of them. */
function nameOverKeys(lines: readonly Line[], index: number, { names, parameters }: CallSigns): string | undefined {
  const name = offered(NAME_ALONE, lines[index]!.text, names)
  const next = lines[index + 1]?.text.trim() ?? ""
  if (name === undefined || parameters === undefined) return undefined
  return /^(?:<\w|\{\s*["}])/.test(next) || parameters(name).some((key) => next.startsWith(key)) ? name : undefined
}

/** `Action: name` with its input in the line after. */
function nameOfAction(lines: readonly Line[], index: number, names: CallSigns["names"]): string | undefined {
  const name = ACTION.exec(lines[index]!.text)?.[1]
  const input = lines[index + 1]?.text.startsWith("Action Input:") === true
  return input && name !== undefined && names.has(name) ? name : undefined
}
