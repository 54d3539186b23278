/**
 * What may move a terminal's cursor, hide text or turn its direction: control characters but for line breaks and tabs.
 */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu
const LONGEST_NAME = 128
const LONGEST_TEXT = 20_000

/** A text of a server as it may be printed anywhere. */
export function plainText(text: string, most = LONGEST_TEXT): string {
  const plain = text.replaceAll(CONTROLS, "")
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}…`
}

/** A server's name of a tool as it may stand in rules, metrics, prompts and on terminals. */
export function plainName(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}_./-]/gu, "_").slice(0, LONGEST_NAME)
}

/** A line of a log: no text of a server makes a second one. */
export function plainLine(text: string): string {
  return plainText(text.replaceAll(/\s+/g, " "), 2000)
}
