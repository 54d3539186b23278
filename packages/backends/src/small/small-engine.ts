import { readFile, stat } from "node:fs/promises"
import { parseGbnf } from "@toolwright/logits"
import type { LlamaModule, LlamaRuntime } from "../llama/module.ts"
import { Biases, GrammarState } from "./choices.ts"
import { parseGguf } from "./gguf-file.ts"
import { SmallModel } from "./small-model.ts"

/** A file with more is refused: what it holds would be too slow here. */
const LARGEST_FILE = 64 * 1024 * 1024

const runtime: LlamaRuntime = {
  async loadModel({ modelPath, onLoadProgress, loadSignal }) {
    const { size } = await stat(modelPath)
    if (size > LARGEST_FILE) throw new Error(`it has ${size} bytes; up to ${LARGEST_FILE} are read without llama.cpp`)
    onLoadProgress?.(0)
    const bytes = await readFile(modelPath, { ...(loadSignal && { signal: loadSignal }) })
    onLoadProgress?.(1)
    loadSignal?.throwIfAborted()
    return new SmallModel(parseGguf(bytes), modelPath, size)
  },
  createGrammar: async ({ grammar }) => parseGbnf(grammar),
  async dispose() {},
}

/**
 * An engine for models of a few million parameters, in place of `node-llama-cpp` and by its shape: it needs no binary,
 * and so no package. It calculates as llama.cpp does, so that the same request has the same answer from both.
 */
export const SMALL_ENGINE: LlamaModule = {
  getLlama: () => Promise.resolve(runtime),
  LlamaLogLevel: { error: "error", disabled: "disabled" },
  LlamaGrammarEvaluationState: GrammarState,
  TokenBias: { for: () => new Biases() },
}
