/**
 * Text that a terminal or a reader cannot be tricked with: escape sequences are dropped (ECMA-48: CSI, OSC, DCS and the single
 * ones), what a carriage return overwrites too, and other control and bidirectional characters are shown as `\u....`.
 */
export function plainText(text: string): string {
  if (!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(text)) return text
  return text
    .replace(/(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/gu, "")
    .replace(/(?:\u001b[\]P^_X]|[\u009d\u0090\u009e\u009f\u0098])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/gu, "")
    .replace(/\u001b[ -/]*[0-~]/gu, "")
    .replace(/\r+\n/gu, "\n")
    .replace(/^.*\r(?=[^\n])/gmu, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
    })
}
