import { ToolwrightError } from "@toolwright/toolbox"
import { validateSampler, type SamplerConfig } from "../sampling/config.ts"
import { SAFETY_LEVELS, type SafetyLevel } from "../safety/rules.ts"

/** What a preset holds the output to: calls of the tools on offer, any JSON object, or nothing. */
export type PresetGrammar = "tools" | "json-object"

/** Settings under a name. */
export interface Preset {
  readonly name: string
  readonly description: string
  readonly sampler: SamplerConfig
  readonly grammar?: PresetGrammar
  readonly safety?: SafetyLevel
}

const BUILT_IN: readonly Preset[] = [
  {
    name: "tool_call",
    description: "One of the tools on offer is called, always the likeliest way",
    sampler: { temperature: 0, topK: 1 },
    grammar: "tools",
  },
  {
    name: "json_strict",
    description: "A JSON object, close to the likeliest one",
    sampler: { temperature: 0.1, topK: 40, topP: 0.9, minP: 0.05 },
    grammar: "json-object",
  },
  { name: "json_loose", description: "JSON by request only, without a grammar", sampler: { temperature: 0.3 } },
  { name: "safe_chat", description: "Conversation, filtered", sampler: { temperature: 0.7 }, safety: "standard" },
  {
    name: "code_generation",
    description: "Program text: careful, with little repetition",
    sampler: { temperature: 0.2, topK: 50, repetitionPenalty: 1.1 },
    safety: "minimal",
  },
  { name: "creative", description: "Free writing with many candidates", sampler: { temperature: 0.8, topK: 100 } },
  { name: "deterministic", description: "The likeliest token each time", sampler: { temperature: 0, topK: 1 } },
]

/** Presets by name: the built-in ones, and those registered here. What it returns are copies. */
export interface PresetRegistry {
  /** @throws ToolwrightError `UNKNOWN_PRESET` that lists the names */
  get(name: string): Preset
  list(): Preset[]
  /** @throws ToolwrightError `INVALID_PRESET` for an empty or taken name, `INVALID_SAMPLER` for wrong settings */
  register(preset: Preset): void
}

/** A registry that knows the seven built-in presets. */
export function createPresetRegistry(custom: readonly Preset[] = []): PresetRegistry {
  const presets = new Map<string, Preset>(BUILT_IN.map((preset) => [preset.name, preset]))
  const registry: PresetRegistry = {
    get(name) {
      const preset = presets.get(name)
      if (preset !== undefined) return structuredClone(preset)
      throw new ToolwrightError("UNKNOWN_PRESET", `There is no preset '${name}'.`, {
        hint: `The presets are: ${[...presets.keys()].join(", ")}.`,
      })
    },
    list: () => [...presets.values()].map((preset) => structuredClone(preset)),
    register(preset) {
      if (typeof preset.name !== "string" || !/^[a-z][a-z0-9_-]*$/i.test(preset.name)) {
        throw new ToolwrightError("INVALID_PRESET", `'${String(preset.name)}' is no name for a preset.`, {
          hint: "Begin with a letter; go on with letters, digits, '_' and '-'.",
        })
      }
      if (presets.has(preset.name))
        throw new ToolwrightError("INVALID_PRESET", `There is already a preset '${preset.name}'.`, {
          hint: "Choose another name.",
        })
      if (preset.safety !== undefined && !SAFETY_LEVELS.includes(preset.safety)) {
        throw new ToolwrightError("INVALID_PRESET", `There is no safety level '${String(preset.safety)}'.`, {
          hint: `The levels are: ${SAFETY_LEVELS.join(", ")}.`,
        })
      }
      validateSampler(preset.sampler)
      const { name, description, sampler, grammar, safety } = preset
      presets.set(
        name,
        structuredClone({
          name,
          description,
          sampler,
          ...(grammar === undefined ? {} : { grammar }),
          ...(safety === undefined ? {} : { safety }),
        }),
      )
    },
  }
  for (const preset of custom) registry.register(preset)
  return registry
}
