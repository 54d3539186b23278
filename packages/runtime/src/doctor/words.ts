import type { Examination, Tries } from "./examination.ts"

/** An examination in plain words. */
export function examinationText(found: Examination): string {
  const { baseUrl, model, version, contextTokens, settings } = found
  if (!found.reachable)
    return (
      `Nothing answers at ${baseUrl}.\nStart the server, or name another one: --base-url ` +
      `http://localhost:11434/v1\n`
    )
  const lines = [
    `Server     ${serverWords(found)}${version === undefined ? "" : ` ${version}`} at ${baseUrl}`,
    `Model      ${model}${found.listed === false ? ", which the server does not list: check the name" : ""}`,
    `Template   ${TEMPLATES[found.template]}. Calls in text are read as '${found.format}'. ${found.formatBecause}`,
    contextTokens === undefined
      ? "Window     not told by the server; say it with --context-tokens"
      : `Window     ${contextTokens} tokens`,
    `Tool use   by the server: ${triesText(found.native)}` +
      (found.saysNative ? "" : " The server says that the model's template knows no tools."),
    `           with the tools in the prompt: ${triesText(found.text)}`,
    `Grammar    ${GRAMMARS[found.grammar]}`,
    ...(found.structuralTags === undefined ? [] : [`Tags       structural tags: ${TAGS[found.structuralTags]}`]),
    "",
    found.usable
      ? "This model calls tools when it is asked to."
      : "This model does not call tools reliably, in either way: expect runs that end in words. A larger model, or " +
        "one that was trained to call tools, will do better.",
    "Settings that follow:",
    `  --backend ${found.backend} --native-tools ${String(settings.nativeTools)} --dialect ` +
      `${settings.dialect}${settings.contextTokens === undefined ? "" : ` --context-tokens ${settings.contextTokens}`}`,
  ]
  if (found.dialect === "ollama" && found.backend === "openai-compatible")
    lines.push(
      "Ollama's own API, --backend ollama, also sets the window with every request: its default cuts what is said.",
    )
  return `${lines.join("\n")}\n`
}

/** What it is, or by which API it was asked where it does not say. */
function serverWords({ backend, dialect }: Examination): string {
  if (backend === "anthropic") return "one that speaks Anthropic's Messages API"
  if (backend === "openai-responses") return "one that speaks OpenAI's Responses API"
  return dialect === "generic" ? "one that speaks OpenAI's protocol and says no more" : dialect
}

const TEMPLATES = {
  shown: "shown by the server",
  plain:
    "plain ChatML, which llama.cpp also takes for a model that brings none (--chat-template-file FILE at the " +
    "server, --model-template FILE here)",
  "not shown": "not shown by the server",
} as const

const GRAMMARS = {
  held: "holds the model: calls in text cannot come out malformed",
  ignored: "is taken and passed over: calls in text are checked after they were written",
  refused: "is refused by the server",
  "not offered": "is not offered by this server",
} as const

const TAGS = {
  held: "they hold the model's calls and leave its text free, so calls in text go by them",
  ignored: "taken and passed over",
  refused: "refused by the server; a grammar holds the calls then",
  "not offered": "not offered by this server",
} as const

function triesText({ called, of, otherwise }: Tries): string {
  if (of === 0) return "not tried"
  return `the model called it in ${called} of ${of} tries.${otherwise === undefined ? "" : ` Else: ${otherwise}`}`
}
