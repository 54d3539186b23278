/**
 * xgrammar in a process of its own: a trap leaves its module in no known state, so the process ends with it and another
 * takes over.
 * Reads `{library, vocabulary, cases}` as JSON from standard input and writes one line for each case.
 */
import { readFileSync, writeSync } from "node:fs"
import { createRequire } from "node:module"

interface XGrammar {
  TokenizerInfo: {
    createTokenizerInfo(
      vocabulary: string[],
      type: string,
      prepend: boolean,
      size: number,
      stop: number[],
    ): Promise<unknown>
  }
  GrammarCompiler: {
    createGrammarCompiler(
      info: unknown,
      cache: boolean,
    ): Promise<{ compileJSONSchema(schema: string): Promise<{ dispose(): void }> }>
  }
  GrammarMatcher: {
    createGrammarMatcher(
      compiled: unknown,
    ): Promise<{ getNextTokenBitmask(): Promise<Int32Array>; acceptToken(id: number): boolean; dispose(): void }>
  }
}

export interface PeerJob {
  readonly library: string
  readonly vocabulary: { readonly tokens_b64: readonly (string | null)[]; readonly eos: number; readonly n: number }
  /** How often each instance is followed. */
  readonly replies: number
  readonly cases: readonly { readonly text: string; readonly tokens: readonly number[] }[]
}

/** Microseconds; `masks` is missing where the instance was not accepted. */
export interface PeerAnswer {
  readonly compile?: number
  readonly masks?: readonly number[]
}

const { library, vocabulary, replies, cases } = JSON.parse(readFileSync(0, "utf8")) as PeerJob
const xgrammar = createRequire(library)(library) as XGrammar
const tokens = vocabulary.tokens_b64.map((text) => (text === null ? "" : byteLevel(Buffer.from(text, "base64"))))
const info = await xgrammar.TokenizerInfo.createTokenizerInfo(tokens, "byte_level", false, vocabulary.n, [
  vocabulary.eos,
])
const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(info, false)
for (const one of cases) {
  let answer: PeerAnswer = {}
  try {
    answer = await measure(one.text, one.tokens)
  } catch (problem) {
    if (String(problem).includes("Aborted") || String(problem).includes("unreachable")) process.exit(1)
  }
  writeSync(1, `${JSON.stringify(answer)}\n`)
}
process.exit(0)

async function measure(text: string, ids: readonly number[]): Promise<PeerAnswer> {
  const begun = performance.now()
  const compiled = await compiler.compileJSONSchema(text)
  const compile = (performance.now() - begun) * 1000
  const masks: number[] = []
  for (let reply = 0; reply < replies; reply++) {
    const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(compiled)
    for (const id of ids) {
      const start = performance.now()
      await matcher.getNextTokenBitmask()
      masks.push((performance.now() - start) * 1000)
      if (!matcher.acceptToken(id)) return { compile }
    }
    matcher.dispose()
  }
  compiled.dispose()
  return { compile, masks }
}

/** GPT-2's printable stand-ins for bytes. */
function byteLevel(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const plain = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    if (plain) return String.fromCharCode(byte)
    const index = byte <= 0x20 ? byte : byte <= 0xa0 ? byte - 0x7f + 0x21 : 0x43
    return String.fromCharCode(0x100 + index)
  }).join("")
}
