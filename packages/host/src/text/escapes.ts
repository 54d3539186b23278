/** CSI and OSC sequences, other escapes, and their one-byte (C1) forms; ECMA-48, sections 5.3 to 5.5. */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b[PX^_]|[\u0090\u0098\u009e\u009f])[^\u001b\u009c]*(?:\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu

/** Control characters that do something to a terminal, and characters that change the order in which text is read. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g

/**
 * The output of a program as a reader of a terminal would be left with it: sequences for colours, cursor and titles are
 * gone, lines overwritten by `\r` hold what was written last, and what else could deceive is shown as an escape.
 */
export function plainOutput(text: string): string {
  return visibleControls(overwriteLines(text.replace(SEQUENCES, "")))
}

function overwriteLines(text: string): string {
  if (!text.includes("\r")) return text
  return text.split("\n").map(overwritten).join("\n")
}

/** What is left of a line: of each place what was written there last. Looked at from its end, so each part once. */
function overwritten(line: string): string {
  let end = line.length
  while (end > 0 && line[end - 1] === "\r") end -= 1
  const shown: string[] = []
  let length = 0
  for (let stop = end; stop >= 0;) {
    const start = line.lastIndexOf("\r", stop - 1) + 1
    if (stop > 0 && stop - start > length) {
      shown.push(line.slice(start + length, stop))
      length = stop - start
    }
    if (start === 0 || stop === 0) break
    stop = start - 1
  }
  return shown.join("")
}

/** A text with every control and direction character shown as `\uXXXX`; tabs and line endings stay. */
export function visibleControls(text: string): string {
  const marked = text.includes("\r") ? text.replace(/\r(?!\n)/gu, "\\u000d") : text
  return marked.replace(CONTROLS, escaped)
}

/** A name on one line: as {@link visibleControls}, tabs and line endings included. */
export function visibleName(name: string): string {
  return name.replace(CONTROLS, escaped).replace(/[\t\n\r]/gu, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}
