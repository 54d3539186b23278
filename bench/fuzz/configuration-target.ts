/** Configuration: files, variables, flags and objects, as people write them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  createPresetRegistry,
  createSafetyFilter,
  createSampler,
  type Preset,
  type SafetyOptions,
  type SamplerConfig,
  samplerProblems,
  toLlamaServer,
} from "@toolwright/logits"
import { defaultConfiguration, loadConfiguration, SETTINGS } from "@toolwright/runtime/configuration"
import { ToolwrightError } from "@toolwright/toolbox"
import { mutateText, randomText, type Random } from "./random.ts"
import type { Target } from "./target.ts"

const VALUES = [
  "true",
  "false",
  "3",
  "-1",
  "0",
  "1e999",
  "0x10",
  "hot",
  "",
  "null",
  "~",
  "[a, b]",
  "[1]",
  "{a: 1}",
  "{}",
  "[]",
  "'x'",
  '"\\u00"',
  "*a",
  "&a b",
  "!!js/function 1",
  "!!binary aGk=",
  "|\n  x\n",
  "2026-01-01",
  "a: b",
  "http://x/v1",
  "é",
  "\t",
  "- x",
  "<<: *a",
  "{deny: [bash]}",
  "[[a]]",
  ".inf",
  ".nan",
]
const SECTIONS = [...new Set(SETTINGS.map(({ key }) => key.split(".")[0]!))]
const NAMES = [...new Set(SETTINGS.flatMap(({ key }) => key.split(".").slice(1)))]
const ENVIRONMENT = SETTINGS.flatMap(({ env }) => env ?? [])
const FLAGS = SETTINGS.flatMap(({ flag }) => (flag === undefined ? [] : [flag]))
const PIECES = [
  ...SECTIONS.map((section) => `${section}:\n`),
  ...NAMES.map((name) => `  ${name}: `),
  ...VALUES,
  "\n",
  "  ",
  ": ",
  "#",
  "---\n",
  "...\n",
  "\0",
  "%YAML 9\n",
  "? ",
]

function file(random: Random): string {
  if (random.chance(0.2)) return randomText(random, PIECES, 12)
  let text = ""
  for (let left = 1 + random.below(4); left > 0; left--) {
    const setting = random.pick(SETTINGS)
    text += `${setting.key
      .split(".")
      .map((part, depth) => `${"  ".repeat(depth)}${part}:`)
      .join("\n")} ${random.pick(VALUES)}\n`
  }
  return random.chance(0.5) ? text : mutateText(random, text, PIECES)
}

export const configurationTarget: Target = {
  name: "configurations",
  show: (random) => JSON.stringify(file(random)).slice(0, 4000),
  async run(random, expecting) {
    const text = file(random)
    const folder = mkdtempSync(join(tmpdir(), "fuzz-configuration-"))
    try {
      writeFileSync(join(folder, "toolwright.yaml"), text)
      const env = random.chance(0.4) ? { [random.pick(ENVIRONMENT)]: random.pick(VALUES) } : {}
      const flags = random.chance(0.4)
        ? { [random.pick(FLAGS)]: random.pick<string | boolean | string[]>([...VALUES, true, ["a", "b"], []]) }
        : {}
      await loadConfiguration({ cwd: folder, env, flags, file: join(folder, "toolwright.yaml") })
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown) || thrown.code !== "INVALID_CONFIGURATION") throw thrown
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    defaultConfiguration(oddObject(random, SECTIONS, NAMES))
    const sampler = oddObject<SamplerConfig>(random, SAMPLER, ["0", "-1", "x"])
    samplerProblems(sampler)
    expecting(["INVALID_SAMPLER"], () => createSampler(sampler))
    expecting(["INVALID_SAMPLER"], () => toLlamaServer(sampler))
    const preset = oddObject<Preset>(random, ["name", "description", "sampler", "grammar", "safety"], SAMPLER)
    expecting(["INVALID_PRESET", "INVALID_SAMPLER"], () => createPresetRegistry([preset]))
    const safety: SafetyOptions = random.chance(0.5)
      ? { banned: [randomText(random, PATTERNS, 8)] }
      : oddObject(random, ["level", "categories", "banned", "except"], ["0"])
    expecting(["INVALID_SAFETY", "INVALID_PATTERN"], () =>
      createSafetyFilter(safety).check("about Project Beta a@b.example 4111 1111 1111 1111"),
    )
  },
}

const SAMPLER = [
  "temperature",
  "topK",
  "topP",
  "minP",
  "repetitionPenalty",
  "repetitionWindow",
  "mirostat",
  "mirostatTau",
  "logitBias",
  "maxTokens",
  "seed",
  "stop",
]
const PATTERNS = [
  "a",
  "b",
  "(",
  ")",
  "|",
  "*",
  "+",
  "?",
  "{3}",
  "{99999}",
  "[a-z]",
  "[^",
  "]",
  "\\d",
  "\\w",
  "\\",
  "(?:",
  "(?=",
  ".",
  "^",
  "$",
  "((((",
  "[z-a]",
  "é",
  "😀",
  "{2,1}",
]
const ODD: readonly unknown[] = [
  null,
  undefined,
  true,
  0,
  -1,
  1.5,
  NaN,
  Infinity,
  "",
  "x",
  "standard",
  "minimal",
  [],
  ["x"],
  [1],
  {},
  { 1: 2 },
  { x: "y" },
  1n,
  2 ** 40,
  "1",
]

/** An object with some of the keys, each of which holds anything. */
function oddObject<Type extends object>(random: Random, keys: readonly string[], inner: readonly string[]): Type {
  const entries = Array.from({ length: random.below(4) }, () => [
    random.pick(keys),
    random.chance(0.6) ? random.pick(ODD) : { [random.pick(inner)]: random.pick(ODD) },
  ])
  return Object.fromEntries(entries) as Type
}
