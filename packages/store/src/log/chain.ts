import { hash as digestOf, randomFillSync } from "node:crypto"

/** What of an event the chain holds. `digest` stands for the body, so that a body can be erased without breaking it. */
export interface Link {
  run: string
  seq: number
  type: string
  time: number
  fence: number
  digest: string
}

/** What stands before the first event of a run. */
export const GENESIS = "0".repeat(64)

export function sha256(text: string): string {
  return digestOf("sha256", text, "hex")
}

/**
 * The hash of an event: SHA-256 of the one before and of the event as JSON with its keys in sorted order. Written out
 * by hand for speed; a law holds it to the canonical form.
 */
export function linkHash(previous: string, { run, seq, type, time, fence, digest }: Link): string {
  return sha256(
    `${previous}{"digest":"${digest}","fence":${fence},"run":${JSON.stringify(run)},` +
      `"seq":${seq},"time":${time},"type":${JSON.stringify(type)}}`,
  )
}

/** The digest of a body: with a salt, so that a short one cannot be guessed once it was erased. */
export function bodyDigest(salt: string, body: string): string {
  return sha256(salt + body)
}

/** Makes salts of 96 bits, drawn in larger pieces. */
export function saltMaker(): () => string {
  const pool = Buffer.alloc(12 * 512)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      randomFillSync(pool)
      at = 0
    }
    at += 12
    return pool.toString("base64url", at - 12, at)
  }
}
