/**
 * Makes text from a model, a tool or a file harmless to a terminal: control characters (but line feed and tab) become
 * visible symbols (U+2400 block), so that no escape sequence can move the cursor, change the title or hide text. Marks
 * that reorder text (bidirectional overrides and isolates) are written as their code.
 */
export function neutralise(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421")
    .replace(
      /[\u0080-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    )
}
