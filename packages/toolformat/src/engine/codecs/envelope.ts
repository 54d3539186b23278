import { spacedJson } from "../json-text.ts"
import type { EnvelopeSyntax } from "../syntax.ts"
import type { Codec } from "./codec.ts"
import { readEnvelope } from "./envelope-reader.ts"

/** A JSON object that holds the tool's name and its arguments. */
export const envelope: Codec<EnvelopeSyntax> = {
  openings: ({ header }) => (header === undefined ? [] : [header.open, header.end]),
  marks: ({ header }) => header?.close ?? [],
  between: "[],;",
  read: readEnvelope,
  print(call, { keys, nameAsKey, idFirst, header }) {
    if (nameAsKey === true) return spacedJson({ [call.name]: call.arguments })
    const id = keys.id === undefined ? {} : { [keys.id]: call.id }
    const object = spacedJson(
      idFirst === true
        ? { ...id, [keys.name]: call.name, [keys.arguments]: call.arguments }
        : { [keys.name]: call.name, [keys.arguments]: call.arguments, ...id },
    )
    return header === undefined ? object : `${header.open}${call.name}${header.end}${object}${header.close[0] ?? ""}`
  },
}
