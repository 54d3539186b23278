import type { Examination, Tries } from "./examine.ts"

/** An examination in plain words. */
export function examinationText(found: Examination): string {
  const { baseUrl, model, dialect, version, contextTokens, settings } = found
  if (!found.reachable)
    return `Nothing answers at ${baseUrl}.\nStart the server, or name another one: --base-url http://localhost:11434/v1\n`
  const lines = [
    `Server     ${dialect === "generic" ? "one that speaks OpenAI's protocol and says no more" : dialect}${version === undefined ? "" : ` ${version}`} at ${baseUrl}`,
    `Model      ${model}${found.listed === false ? ", which the server does not list: check the name" : ""}`,
    `Template   ${found.template === "shown" ? "shown by the server" : "not shown by the server"}. Calls in text are read as '${found.format}'. ${found.formatBecause}`,
    `Window     ${contextTokens === undefined ? "not told by the server; say it with --context-tokens" : `${contextTokens} tokens`}`,
    `Tool use   by the server: ${triesText(found.native)}${found.saysNative ? "" : " The server says that the model's template knows no tools."}`,
    `           with the tools in the prompt: ${triesText(found.text)}`,
    `Grammar    ${GRAMMARS[found.grammar]}`,
    "",
    found.usable
      ? "This model calls tools when it is asked to."
      : "This model does not call tools reliably, in either way: expect runs that end in words. A larger model, or one that was trained to call tools, will do better.",
    "Settings that follow:",
    `  --native-tools ${String(settings.nativeTools)} --dialect ${settings.dialect}${settings.contextTokens === undefined ? "" : ` --context-tokens ${settings.contextTokens}`}`,
  ]
  return `${lines.join("\n")}\n`
}

const GRAMMARS = {
  held: "holds the model: calls in text cannot come out malformed",
  ignored: "is taken and passed over: calls in text are checked after they were written",
  refused: "is refused by the server",
  "not offered": "is not offered by this server",
} as const

function triesText({ called, of, otherwise }: Tries): string {
  if (of === 0) return "not tried"
  return `the model called it in ${called} of ${of} tries.${otherwise === undefined ? "" : ` Else: ${otherwise}`}`
}
