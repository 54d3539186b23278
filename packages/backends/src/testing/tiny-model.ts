import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openLlama, openWith, type LlamaEngine, type LlamaEngineOptions } from "../llama/engine.ts"
import { SMALL_ENGINE } from "../small/small-engine.ts"
import { LLAMA } from "./engine-here.ts"
import { tinyGguf, type TinyModelOptions } from "./tiny-gguf.ts"

/** A tiny model in a folder of its own, which goes when it is disposed. */
export async function tinyModelFile(options: TinyModelOptions = {}): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "tiny-model-"))
  const path = join(folder, "tiny.gguf")
  await writeFile(path, tinyGguf(options))
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

/** A tiny model, opened, by llama.cpp where that is installed and otherwise by ours; its file is gone at once. */
export async function openTinyModel(
  model: TinyModelOptions = {},
  options: Partial<LlamaEngineOptions> = {},
): Promise<LlamaEngine> {
  await using file = await tinyModelFile(model)
  const opened = { contextSize: 2048, ...options, modelPath: file.path }
  return await (LLAMA.installed ? openLlama(opened) : openWith(() => Promise.resolve(SMALL_ENGINE), opened))
}

/** Everything that a generation writes. */
export async function writeAll(run: AsyncIterable<string>): Promise<string> {
  let text = ""
  for await (const part of run) text += part
  return text
}
