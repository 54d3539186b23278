import type { CallSyntax } from "../syntax.ts"
import { channel } from "./channel.ts"
import type { Codec } from "./codec.ts"
import { envelope } from "./envelope.ts"
import { gemma } from "./gemma.ts"
import { named } from "./named.ts"
import { nested } from "./nested.ts"
import { parameters } from "./parameters.ts"
import { python } from "./python.ts"

const CODECS: { [Kind in CallSyntax["codec"]]: Codec<Extract<CallSyntax, { codec: Kind }>> } = {
  envelope,
  named,
  parameters,
  python,
  gemma,
  nested,
  channel,
}

/** The codec of a call syntax. */
export function codecOf<Syntax extends CallSyntax>(syntax: Syntax): Codec<Syntax> {
  return CODECS[syntax.codec] as unknown as Codec<Syntax>
}
