import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"
import type { EntryState } from "./entry-state.ts"

/**
 * How names of files are written down. One that holds a secret is written as nobody without the user's key can read it,
 * since taking a change back needs the whole of it.
 */
export interface NameSeal {
  /** Whether a text may hold a name that has to be sealed: a quick look at many at once. */
  mayHold(text: string): boolean
  seal(name: string): string
  /** @returns what was sealed; a name that was not, or not by this user, as it is */
  open(written: string): string
}

const MARK = "sealed:"
const CIPHER = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @param key nothing is sealed where there is none */
export function createNameSeal(
  key: () => Uint8Array | undefined = () => undefined,
  redact: (text: string) => string = (text) => text,
): NameSeal {
  const own = (): Buffer | undefined => {
    const secret = key()
    return secret && createHmac("sha256", secret).update("names").digest()
  }
  const mayHold = (text: string): boolean => text.includes(MARK) || redact(text) !== text
  return {
    mayHold,
    seal(name) {
      // What looks sealed and is not must not be opened later.
      const secret = mayHold(name) ? own() : undefined
      if (secret === undefined) return name
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, secret, nonce)
      const bytes = Buffer.concat([nonce, cipher.update(name, "utf8"), cipher.final(), cipher.getAuthTag()])
      return MARK + bytes.toString("base64url")
    },
    open(written) {
      if (!written.startsWith(MARK)) return written
      const secret = own()
      if (secret === undefined) return written
      const bytes = Buffer.from(written.slice(MARK.length), "base64url")
      try {
        const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, NONCE_BYTES))
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString("utf8")
      } catch {
        return written
      }
    },
  }
}

/** A state with the target of a link changed. */
export function withTarget<State extends EntryState>(state: State, change: (name: string) => string): State {
  return state.kind === "link" ? { ...state, target: change(state.target) } : state
}
