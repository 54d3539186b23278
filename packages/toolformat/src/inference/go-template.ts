/**
 * Calls in a template of Ollama's own, in Go's language. Such a template is not run here; how it writes the calls of a
 * message is read off its text, where it does so plainly, and said again in Jinja, so that the same probes can be shown.
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

function piecesOf(source: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const match of source.matchAll(/(\s*\{\{-\s|\{\{)\s*([\s\S]*?)(\s-\}\}\s*|\}\})/g)) {
    // What trims at the end of one may have been taken for the next already.
    const [whole, open, action, close] = match as unknown as [string, string, string, string]
    const begins = match.index + (open.length - open.trimStart().length)
    const text = source.slice(at, open.includes("-") ? match.index : begins)
    if (text !== "") pieces.push({ text })
    pieces.push({ action: action.trim() })
    at = match.index + whole.length
    if (!close.includes("-")) at = match.index + whole.trimEnd().length
  }
  if (at < source.length) pieces.push({ text: source.slice(at) })
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
