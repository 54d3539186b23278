import type { CallSyntax } from "../syntax.ts"
import type { Codec } from "./codec.ts"
import { envelope } from "./envelope.ts"

const CODECS = { envelope }

/** The codec of a call syntax. */
export function codecOf(syntax: CallSyntax): Codec<CallSyntax> {
  return CODECS[syntax.codec as "envelope"] as unknown as Codec<CallSyntax>
}
