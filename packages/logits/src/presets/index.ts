export { createPresetRegistry, type Preset, type PresetGrammar, type PresetRegistry } from "./presets.ts"
export { generateInMode, type Attempt, type Constraint, type GenerationMode } from "./modes.ts"
