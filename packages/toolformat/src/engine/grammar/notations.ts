import { JSON_ARRAY, modelJsonNotation, pythonNotation, type Notation } from "@toolwright/logits"
import type { GemmaSyntax, ParametersSyntax } from "../syntax.ts"

const NO_MARKS = { open: "", separator: "", close: "" }

/** Keyword arguments of a Python call, without the brackets around them. */
export const KEYWORDS: Notation = {
  ...pythonNotation,
  id: "keywords",
  object: {
    ...NO_MARKS,
    beforeKey: "",
    key: { kind: "bare", stop: ["="] },
    afterKey: "=",
    afterValue: "",
    separator: ", ",
  },
  whitespace: "none",
  nested: pythonNotation,
}

/** Bare keys, texts between the family's delimiter. */
export function gemmaNotation({ quote }: GemmaSyntax): Notation {
  return {
    ...modelJsonNotation,
    id: quote === "<escape>" ? "escape-object" : "gemma-object",
    string: { kind: "delimited", open: quote, close: quote },
    array: JSON_ARRAY,
    object: {
      open: "{",
      beforeKey: "",
      key: { kind: "bare", stop: [":"] },
      afterKey: ":",
      afterValue: "",
      separator: ",",
      close: "}",
    },
    whitespace: "none",
  }
}

/** A value between tags: text as it is, up to any tag that could end it; all else as JSON. */
export function tagValue(id: string, stop: readonly string[]): Notation {
  return { ...modelJsonNotation, id, string: { kind: "bare", stop }, nested: modelJsonNotation }
}

/** Parameters in tags. */
export function parametersNotation(syntax: ParametersSyntax, id: string): Notation {
  const { parameter, call, framed, typed, lines, wrapper } = syntax
  const line = framed === true ? "\n" : ""
  const close = parameter.close[0] ?? ""
  const stop = [
    line + close,
    close,
    parameter.open[0] ?? "",
    ...call.close.slice(0, 1),
    ...call.open.slice(0, 1),
    ...(wrapper?.close ?? []),
  ].filter((mark) => mark.trim() !== "")
  const keyEnd = (parameter.keyEnd[0] ?? "") + line
  return {
    ...modelJsonNotation,
    id,
    object: {
      ...NO_MARKS,
      beforeKey: parameter.open[0] ?? "",
      key: { kind: "bare", stop: [typed === undefined ? (parameter.keyEnd[0] ?? "").slice(0, 1) : '"'] },
      afterKey:
        typed === undefined
          ? keyEnd
          : { string: `" ${typed.attribute}="true"${typed.end}`, other: `" ${typed.attribute}="false"${typed.end}` },
      afterValue: line + close + (lines?.afterParameter ?? ""),
    },
    whitespace: "none",
    nested: tagValue(`${id}-value`, [...new Set(stop)]),
  }
}
