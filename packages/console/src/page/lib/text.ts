const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g

/**
 * A text as it can be looked at: what would move the cursor, turn the reading direction or hide something is shown by
 * its number. ANSI sequences lose their escape and become harmless words.
 */
export function visible(text: string): string {
  return text.replaceAll(CONTROLS, (character) => {
    if (character === "\r") return "␍"
    if (character === "\u001B") return "␛"
    return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`
  })
}

const SHOWN = 65_536

/** Head and tail of what is long, and how much lies between. */
export function headAndTail(text: string): { head: string; tail: string; left: number } {
  if (text.length <= SHOWN) return { head: text, tail: "", left: 0 }
  return { head: text.slice(0, SHOWN / 2), tail: text.slice(-SHOWN / 8), left: text.length - SHOWN / 2 - SHOWN / 8 }
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KB`
  return `${(size / 1024 / 1024).toFixed(1)} MB`
}

export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–"
  if (ms < 1) return "<1 ms"
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
  const minutes = Math.floor(ms / 60_000)
  return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s` : `${(minutes / 60).toFixed(1)} h`
}

export function ago(then: number, now = Date.now()): string {
  const seconds = Math.max(0, (now - then) / 1000)
  if (seconds < 60) return "just now"
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return new Date(then).toLocaleDateString(undefined, {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  })
}

export const count = (number: number, word: string): string =>
  `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`
