import { open, stat } from "node:fs/promises"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { probeAbilities, type ProbeOptions } from "../probe/probe.ts"
import { readGgufHeader } from "./gguf-header.ts"

/** A chat template, and where it is from. */
export interface FoundTemplate {
  template: string
  /** For people: the file, or the server. */
  from: string
  /** What the model is called there. */
  modelName?: string
  bosToken?: string
  eosToken?: string
}

/** No template or tokenizer's configuration is longer; vocabularies stand elsewhere. */
const LONGEST_FILE = 16 * 1024 * 1024

/**
 * Reads a model's chat template: from a GGUF file (its header alone), a `tokenizer_config.json`, a file with the
 * template itself, or a running server, whose address begins with `http://` or `https://`.
 *
 * @throws ToolwrightError `NO_TEMPLATE`, with what to name instead
 */
export async function readTemplate(source: string, options: ProbeOptions = {}): Promise<FoundTemplate> {
  if (/^https?:\/\//i.test(source)) return fromServer(source, options)
  const found = await stat(source).catch(() => undefined)
  if (found === undefined || !found.isFile()) throw none(`${source} is no file that can be read.`)
  try {
    return await fromFile(source)
  } catch (thrown) {
    throw ToolwrightError.isInstance(thrown) ? thrown : none(`${source} cannot be read: ${messageOf(thrown)}`)
  }
}

async function fromFile(path: string): Promise<FoundTemplate> {
  if (await isGguf(path)) {
    const { chatTemplate, name, bosText, eosText } = await readGgufHeader(path)
    if (chatTemplate === undefined) throw none(`${path} has no chat template in its header.`)
    return {
      template: chatTemplate,
      from: path,
      ...(name === undefined ? {} : { modelName: name }),
      ...(bosText === undefined ? {} : { bosToken: bosText }),
      ...(eosText === undefined ? {} : { eosToken: eosText }),
    }
  }
  const text = await boundedFile(path)
  return text.trimStart().startsWith("{") && !/^\s*\{[%{#]/.test(text)
    ? { ...fromTokenizerConfig(text, path), from: path }
    : { template: text, from: path }
}

async function isGguf(path: string): Promise<boolean> {
  const file = await open(path, "r")
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.toString("latin1") === "GGUF"
  } finally {
    await file.close()
  }
}

async function boundedFile(path: string): Promise<string> {
  const file = await open(path, "r")
  try {
    const { size } = await file.stat()
    if (size > LONGEST_FILE) throw none(`${path} is too large for a chat template.`)
    return await file.readFile("utf8")
  } finally {
    await file.close()
  }
}

/** `tokenizer_config.json`: the template as a text, or several by name. */
function fromTokenizerConfig(text: string, path: string): Omit<FoundTemplate, "from"> {
  let config: Record<string, unknown>
  try {
    config = JSON.parse(text) as Record<string, unknown>
  } catch (thrown) {
    throw none(`${path} is neither JSON nor a chat template: ${messageOf(thrown)}`)
  }
  const given = config.chat_template
  const list = Array.isArray(given) ? (given as { name?: unknown; template?: unknown }[]) : []
  const template =
    typeof given === "string"
      ? given
      : (list.find(({ name }) => name === "tool_use") ?? list.find(({ name }) => name === "default") ?? list[0])
          ?.template
  if (typeof template !== "string") throw none(`${path} has no chat_template.`)
  const bos = tokenText(config.bos_token)
  const eos = tokenText(config.eos_token)
  return {
    template,
    ...(bos === undefined ? {} : { bosToken: bos }),
    ...(eos === undefined ? {} : { eosToken: eos }),
  }
}

/** A token as a text, or as an object that has it. */
function tokenText(token: unknown): string | undefined {
  if (typeof token === "string") return token
  const content = typeof token === "object" && token !== null ? (token as { content?: unknown }).content : undefined
  return typeof content === "string" ? content : undefined
}

async function fromServer(address: string, options: ProbeOptions): Promise<FoundTemplate> {
  const probed = await probeAbilities(address, options)
  if (!probed.reachable) throw none(`Nothing answers at ${address}.`)
  const [modelName = options.modelName] = probed.models
  const name = modelName === undefined ? {} : { modelName }
  if (probed.chatTemplate !== undefined)
    return { template: probed.chatTemplate, from: address, ...name, ...probed.tokens }
  if (probed.modelFile !== undefined) {
    // The server is on this machine, and says which file it runs.
    const file = probed.modelFile
    const found = await isGguf(file).then(
      (gguf) => (gguf ? fromFile(file) : undefined),
      () => undefined,
    )
    if (found !== undefined) return { ...found, ...name }
  }
  if (probed.ownTemplate !== undefined) return { template: probed.ownTemplate, from: address, ...name }
  const which = options.modelName === undefined && probed.dialect === "ollama" ? " Name the model: `model.name`." : ""
  throw none(`The server at ${address} (${probed.dialect}) shows no chat template.${which}`)
}

function none(message: string): ToolwrightError {
  return new ToolwrightError("NO_TEMPLATE", message, {
    hint:
      "Name a GGUF file, a tokenizer_config.json, a chat template in Jinja, or a running server that shows its " +
      "template, as llama.cpp does.",
  })
}
