/**
 * Whether llama.cpp reads the exported file as PyTorch has it: the same tokens for 1,000 texts, and nearly the same
 * probabilities.
 *
 *   npx node --conditions=toolwright-source parity.ts parity.json model.gguf
 */
import { readFileSync } from "node:fs"
import { openLlama } from "@toolwright/backends"

interface Expected {
  readonly texts: readonly string[]
  readonly ids: readonly (readonly number[])[]
  readonly prompt: string
  readonly probabilities: readonly number[]
}

/** What rounding to 8 bits may change. */
const TOLERANCE = 0.05

const [expectedFile, modelPath] = process.argv.slice(2)
if (expectedFile === undefined || modelPath === undefined) throw new Error("Usage: parity.ts parity.json model.gguf")
const expected = JSON.parse(readFileSync(expectedFile, "utf8")) as Expected
await using engine = await openLlama({ modelPath })
const wrong = expected.texts.filter((text, index) => engine.tokenize(text).join() !== expected.ids[index]!.join())
console.log(`${expected.texts.length - wrong.length} of ${expected.texts.length} texts have the same tokens`)
const tokens = engine.tokenize(expected.prompt)
const logits = await engine.withSequence(async ({ sequence }) => {
  const last = tokens.at(-1)!
  const outputs = await sequence.controlledEvaluate([
    ...tokens.slice(0, -1),
    [last, { generateNext: { logits: true } }],
  ])
  return outputs[tokens.length - 1]!.next.logits!
})
const most = Math.max(...logits.values())
const total = [...logits.values()].reduce((sum, logit) => sum + Math.exp(logit - most), 0)
const difference = Math.max(
  ...[...logits].map(([token, logit]) => Math.abs(Math.exp(logit - most) / total - expected.probabilities[token]!)),
)
console.log(`probabilities differ by ${difference.toFixed(4)} at most`)
if (wrong.length > 0 || difference > TOLERANCE) process.exitCode = 1
