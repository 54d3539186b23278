/** How the holder of a token is called on record: a digest, of which nothing can be told. */
const HOLDER = /^[\w-]{22}$/

/**
 * Who called or answered, in words. A person has a name; who came over HTTP is known by the digest of their token, of
 * which a piece tells them apart.
 */
export function callerName(caller: string | null): string {
  if (caller === null) return "somebody"
  return HOLDER.test(caller) ? `the holder of a token (${caller.slice(0, 6)}…)` : caller
}
