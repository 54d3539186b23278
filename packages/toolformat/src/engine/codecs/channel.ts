import { CallWriter } from "../call-writer.ts"
import { spacedJson } from "../json-text.ts"
import { literal, skipSpace, stands, textUntil } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, type Scan } from "../source.ts"
import type { ChannelSyntax } from "../syntax.ts"
import { JSON_NOTATION, scanValue } from "../value.ts"
import { resync, settle, type Codec, type ReadContext } from "./codec.ts"

const LONGEST_HEADER = 200
const RECIPIENT = /(?:^|[^\w])to=([^\s<{]+)/
/** Recipients that are no tools. */
const PEOPLE = new Set(["assistant", "user", "self", "system", "developer", "all"])

/**
 * A message whose header names a tool as its recipient; before or after the channel, with whatever else stands there.
 */
export const channel: Codec<ChannelSyntax> = {
  openings: ({ open }) => open,
  marks: () => [],
  between: "",
  read: readChannel,
  print: (call, { namespace, headerEnd, close }) =>
    `<|channel|>commentary to=${namespace}${call.name} ` +
    `<|constrain|>json${headerEnd}${spacedJson(call.arguments)}${close[0] ?? ""}`,
}

function* readChannel(
  session: Session,
  { namespace, headerEnd, close }: ChannelSyntax,
  context: ReadContext,
): Scan<boolean> {
  const { source } = session
  // what begins a header also ends a message, so its first code unit is read apart
  const first = String.fromCharCode(yield* source.wait())
  source.at++
  const header = yield* textUntil(source, [headerEnd, "{", ...close], LONGEST_HEADER)
  if (header === undefined) return false
  const recipient = RECIPIENT.exec(first + header)?.[1]
  if (recipient === undefined || PEOPLE.has(recipient)) return false
  if (!(yield* literal(source, headerEnd)) && (yield* source.wait()) !== 123) return false
  const call = new CallWriter(session, context.start)
  const own = recipient.startsWith(namespace)
  call.name = own ? recipient.slice(namespace.length) : recipient
  context.commit()
  if (!own && session.tools?.has(recipient) !== true) {
    yield* resync(source, [...close, ...context.closers])
    call.fail("unknown-tool", `The message is for '${recipient}', which is no tool on offer.`)
    return true
  }
  const body = yield* skipSpace(source)
  if (body !== END && (yield* stands(source, close))) {
    // a call of a tool that takes nothing
    call.finish()
    return true
  }
  const outcome =
    body === END ? "open" : body === 123 ? yield* scanValue(source, JSON_NOTATION, call, context.closers) : "invalid"
  const closers = [...close, ...context.closers]
  yield* settle(source, call, outcome, closers, "The arguments are not a JSON object.")
  return true
}
