import { ToolwrightError } from "@toolwright/toolbox"

/**
 * How the next token is chosen. Everything may be left out; what is left out is off, or the server's own default.
 *
 * Ranges are checked by {@link validateSampler}.
 */
export interface SamplerConfig {
  /** 0 to 2; 0 always takes the likeliest token. */
  temperature?: number
  /** Only the likeliest so many; 0 is off. */
  topK?: number
  /** Only the likeliest that together have this probability; above 0, up to 1 (off). */
  topP?: number
  /** Only those at least this likely, as a share of the likeliest; 0 (off) to 1. */
  minP?: number
  /** Makes tokens of the window less likely; above 0, up to 2; 1 is off. */
  repetitionPenalty?: number
  /** How many of the last tokens count as repeated; 0 is none, -1 all. */
  repetitionWindow?: number
  /** Taken off a token's logit for each time it is in the window; -2 to 2. */
  frequencyPenalty?: number
  /** Taken off a token's logit when it is in the window at all; -2 to 2. */
  presencePenalty?: number
  /** 0 off, 1 or 2: the version of mirostat, which then replaces top-k, top-p and min-p. */
  mirostat?: 0 | 1 | 2
  /** Mirostat's wanted surprise in bits; above 0, up to 20. */
  mirostatTau?: number
  /** How fast mirostat corrects itself; above 0, up to 1. */
  mirostatEta?: number
  /** Added to the logits of single tokens, by token number; -100 to 100, or minus infinity to forbid. */
  logitBias?: Readonly<Record<number, number>>
  /** At least 1; -1 is no limit. */
  maxTokens?: number
  /** 0 to 4294967295 for the same choices again; -1 for different ones each time. */
  seed?: number
  /** Texts at which generation ends. */
  stop?: readonly string[]
}

interface Range {
  readonly from: number
  readonly to: number
  readonly whole?: boolean
  /** Whether `from` itself is outside. */
  readonly above?: boolean
}

const RANGES = {
  temperature: { from: 0, to: 2 },
  topK: { from: 0, to: 1_000_000, whole: true },
  topP: { from: 0, to: 1, above: true },
  minP: { from: 0, to: 1 },
  repetitionPenalty: { from: 0, to: 2, above: true },
  repetitionWindow: { from: -1, to: 1_000_000, whole: true },
  frequencyPenalty: { from: -2, to: 2 },
  presencePenalty: { from: -2, to: 2 },
  mirostat: { from: 0, to: 2, whole: true },
  mirostatTau: { from: 0, to: 20, above: true },
  mirostatEta: { from: 0, to: 1, above: true },
  maxTokens: { from: -1, to: 10_000_000, whole: true },
  seed: { from: -1, to: 0xffff_ffff, whole: true },
} as const satisfies Partial<Record<keyof SamplerConfig, Range>>

const FIELDS = new Set<string>([...Object.keys(RANGES), "logitBias", "stop"])

/** What is wrong with a sampler configuration, one sentence each; empty when nothing is. */
export function samplerProblems(config: SamplerConfig): string[] {
  if (!isMapping(config)) return [`the settings must be an object, not ${show(config)}`]
  const problems: string[] = []
  const values = config as Record<string, unknown>
  for (const [name, range] of Object.entries(RANGES) as [string, Range][]) {
    const value = values[name]
    if (value !== undefined && !inRange(value, range))
      problems.push(`${name} must be ${describe(range)}, not ${show(value)}`)
  }
  if (config.maxTokens === 0) problems.push("maxTokens must be at least 1, or -1 for no limit, not 0")
  problems.push(...biasProblems(config.logitBias === undefined ? {} : config.logitBias))
  if (config.stop !== undefined && !isTexts(config.stop))
    problems.push("stop must be a list of texts that are not empty")
  for (const name of Object.keys(values)) if (!FIELDS.has(name)) problems.push(`there is no sampler setting '${name}'`)
  return problems
}

function biasProblems(given: unknown): string[] {
  if (!isMapping(given)) return [`logitBias must be numbers by token, not ${show(given)}`]
  return Object.entries(given as object).flatMap(([token, bias]) => [
    ...(/^\d+$/.test(token) ? [] : [`logitBias must have token numbers as keys, not '${token}'`]),
    ...(bias === Number.NEGATIVE_INFINITY || inRange(bias, { from: -100, to: 100 })
      ? []
      : [`logitBias of token ${token} must be from -100 to 100, not ${show(bias)}`]),
  ])
}

function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every((text) => typeof text === "string" && text !== "")
}

/**
 * Checks a configuration and returns a copy of it.
 *
 * @throws ToolwrightError `INVALID_SAMPLER` that names every setting out of range
 */
export function validateSampler(config: SamplerConfig): SamplerConfig {
  const problems = samplerProblems(config)
  if (problems.length > 0) {
    throw new ToolwrightError("INVALID_SAMPLER", `Wrong sampler settings: ${problems.join("; ")}.`, {
      hint: `The settings are: ${[...FIELDS].join(", ")}.`,
    })
  }
  return structuredClone(config)
}

function inRange(value: unknown, { from, to, whole, above }: Range): boolean {
  if (typeof value !== "number" || !Number.isFinite(value)) return false
  return (above === true ? value > from : value >= from) && value <= to && (whole !== true || Number.isInteger(value))
}

function describe({ from, to, whole, above }: Range): string {
  const between = above === true ? `above ${from} and up to ${to}` : `from ${from} to ${to}`
  return `${whole === true ? "a whole number " : ""}${between}`
}

const isMapping = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

function show(value: unknown): string {
  if (typeof value !== "object") return typeof value === "string" ? JSON.stringify(value) : String(value)
  return Array.isArray(value) ? "a list" : value === null ? "null" : "an object"
}
