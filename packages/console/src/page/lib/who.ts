/** How the holder of a token is called on record: a hash of it, of which nothing can be told. */
const HOLDER = /^[\w-]{22}$/

let own = ""

/** Works out what the holder of the page's token is called, so that their own answers can be told from others'. */
export async function learnOwnName(token: string): Promise<void> {
  own = ""
  // A page that came over plain HTTP from another machine has no such thing.
  if (token === "" || globalThis.crypto?.subtle === undefined) return
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))
  const text = btoa(String.fromCharCode(...new Uint8Array(digest)))
  own = text.replaceAll("+", "-").replaceAll("/", "_").slice(0, 22)
}

/** Who it was, in words: this page, another holder of a token, or a user of the machine by name. */
export function who(by: string): string {
  if (by !== "" && by === own) return "you"
  if (by === "" || by === "http") return "somebody over HTTP"
  return HOLDER.test(by) ? `another token (${by.slice(0, 4)}…)` : by
}
