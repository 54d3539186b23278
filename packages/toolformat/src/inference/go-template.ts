/**
 * Calls in a template of Ollama's own, in Go's language. Such a template is not run here; how it writes the calls of a
 * message is read off its text, where it does so plainly, and said again in Jinja, so that the same probes can be
 * shown.
 */

/** A piece of a template: text, or what stands between braces. */
type Piece = { readonly text: string } | { readonly action: string }

/**
 * A template in Jinja that writes calls as the one in Go does, and nothing else of it but what is said.
 *
 * @returns undefined where it writes none, or not plainly: by conditions and functions of its own
 */
export function jinjaOfGoCalls(source: string): string | undefined {
  const pieces = piecesOf(source)
  const range = pieces.findIndex((piece) => "action" in piece && RANGE.test(piece.action))
  if (range < 0) return undefined
  const [, index, call] = RANGE.exec((pieces[range] as { action: string }).action)!
  const end = endOf(pieces, range)
  const body = end === undefined ? undefined : bodyOf(pieces.slice(range + 1, end), { index, call })
  if (end === undefined || body === undefined) return undefined
  const before = textOf(pieces[range - 1])
  const after = textOf(pieces[end + 1])
  const calls = `{% for call in message.tool_calls %}${body}{% endfor %}`
  return `${BEGIN}${said(before)}${calls}${said(after)}${END}`
}

const BEGIN =
  "{% for message in messages %}{{ '<|' + message.role + '|>' }}{{ message.content or '' }}{% if message.tool_calls %}"
const END = "{% endif %}{{ '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

/** The calls of a message, one after the other; the names of their place and of the call, where it gives them some. */
const RANGE = /^range\s+(?:(?:(\$\w*)\s*,\s*)?(\$\w*)\s*:=\s*)?(?:\$?\w*\.)?(?:Message\.)?ToolCalls$/
const OPENS = /^(?:range|if|with|block|define)\b/

/** From one mark to the next, so that a text of any marks and blanks is passed over once. */
function piecesOf(source: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  let trims = false
  const add = (end: number, trimsEnd: boolean): void => {
    const begun = trims ? source.slice(at, end).trimStart() : source.slice(at, end)
    const text = trimsEnd ? begun.trimEnd() : begun
    if (text !== "") pieces.push({ text })
  }
  for (;;) {
    const open = source.indexOf("{{", at)
    const close = open < 0 ? -1 : source.indexOf("}}", open + 2)
    if (close < 0) break
    const action = source.slice(open + 2, close)
    add(open, /^-\s/.test(action))
    const begin = /^-\s/.test(action) ? 1 : 0
    trims = action.length > 2 && /^\s-$/.test(action.slice(-2))
    pieces.push({ action: action.slice(begin, trims ? -1 : undefined).trim() })
    at = close + 2
  }
  add(source.length, false)
  return pieces
}

/** The end of what begins at a piece. */
function endOf(pieces: readonly Piece[], start: number): number | undefined {
  let depth = 0
  for (let at = start; at < pieces.length; at++) {
    const piece = pieces[at]!
    if (!("action" in piece)) continue
    if (OPENS.test(piece.action)) depth++
    else if (piece.action === "end" && --depth === 0) return at
  }
  return undefined
}

/** What is written of one call. */
function bodyOf(
  pieces: readonly Piece[],
  { index, call }: { index: string | undefined; call: string | undefined },
): string | undefined {
  const written = pieces.map((piece) => {
    if ("text" in piece) return said(piece.text)
    const field = call !== undefined && piece.action.startsWith(call) ? piece.action.slice(call.length) : piece.action
    if (/^\.(?:Function\.)?Name$/.test(field)) return "{{ call.function.name }}"
    if (/^(?:(?:json|toJson)\s+)?\.(?:Function\.)?Arguments$/.test(field))
      return "{{ call.function.arguments | tojson }}"
    if (index !== undefined && piece.action === `if ${index}`) return "{% if not loop.first %}"
    return piece.action === "end" ? "{% endif %}" : undefined
  })
  return written.includes(undefined) ? undefined : written.join("")
}

const textOf = (piece: Piece | undefined): string => (piece !== undefined && "text" in piece ? piece.text : "")

/** Text, as Jinja writes it whatever stands in it. */
const said = (text: string): string => (text === "" ? "" : `{{ ${JSON.stringify(text)} }}`)
