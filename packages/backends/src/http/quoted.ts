/** Longest text of a server in a message. */
const LONGEST = 1000

/**
 * What a server said, as it may stand in a message: short, without what would steer a terminal, and without the keys
 * that it was sent, since servers quote what they get.
 */
export function quoted(text: string, secrets: readonly string[] = []): string {
  const hidden = secrets.reduce((shown, secret) => (secret === "" ? shown : shown.replaceAll(secret, "•••")), text)
  const clean = hidden.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean
}
