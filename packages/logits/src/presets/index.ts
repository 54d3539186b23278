export { createPresetRegistry, type Preset, type PresetGrammar, type PresetRegistry } from "./presets.ts"
export {
  constraintsFor,
  generateInMode,
  GENERATION_MODES,
  type Attempt,
  type Constraint,
  type GenerationMode,
} from "./modes.ts"
