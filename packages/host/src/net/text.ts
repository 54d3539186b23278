const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g
/**
 * Control characters, invisible characters, direction overrides, and the tag block, in which whole sentences can hide.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Text from outside as it may be shown: no terminal escapes, control characters, invisible or direction-changing
 * characters.
 */
export function cleanText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(ESCAPES, "").replace(INVISIBLE, "")
}

/** Clean text on one line, at most `maxChars` long. */
export function cleanLine(text: string, maxChars = 300): string {
  return truncate(cleanText(text).replace(/\s+/g, " ").trim(), maxChars)
}

/** The beginning of a text, ending in `…` where something was cut off; never half a character. */
export function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const cut = text.slice(0, Math.max(0, maxChars - 1))
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

/**
 * HTML as plain text: without tags, scripts and styles, with the usual entities decoded. One pass, so that no markup
 * makes it slow: whatever is not closed is text.
 */
export function withoutMarkup(html: string): string {
  const lower = html.toLowerCase()
  let [text, at] = ["", 0]
  for (;;) {
    const open = html.indexOf("<", at)
    if (open < 0) break
    const end = html.indexOf(">", open)
    if (end < 0) break
    const isTag = /[a-z/!?]/.test(lower[open + 1] ?? "")
    text += isTag ? `${html.slice(at, open)} ` : html.slice(at, open + 1)
    at = isTag ? end + 1 : open + 1
    const block = isTag ? ["script", "style"].find((name) => lower.startsWith(name, open + 1)) : undefined
    if (block === undefined) continue
    const close = lower.indexOf(`</${block}`, at)
    if (close < 0) return decodeEntities(text)
    at = close
  }
  return decodeEntities(text + html.slice(at))
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

/**
 * Decodes a fetched document: by its byte order mark, else the charset of the content type, else what the document says
 * of itself, else UTF-8, or windows-1252 where it is not valid UTF-8 (the rule of browsers).
 *
 * @param declared finds the document's own word in its first kilobyte
 */
export function decodeDocument(
  bytes: Uint8Array,
  contentType: string | undefined,
  declared: RegExp,
): { text: string; charset: string } {
  const own = () => declared.exec(new TextDecoder("latin1").decode(bytes.subarray(0, 1024)))?.[1]
  const label = byteOrderMark(bytes) ?? /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? "")?.[1] ?? own()
  const decoder = label === undefined ? undefined : decoderOf(label)
  if (decoder !== undefined) return { text: decoder.decode(bytes), charset: decoder.encoding }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), charset: "utf-8" }
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), charset: "windows-1252" }
  }
}

export const HTML_CHARSET = /<meta[^>]+charset\s*=\s*["']?([a-z0-9_:-]+)/i
export const XML_CHARSET = /<\?xml[^>]+encoding\s*=\s*["']([a-z0-9_:-]+)/i

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return undefined
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
