/** What the configuration is, without anything that is made from it: quick to load, for help texts and editors. */
export { hasModel } from "../assembly/configured.ts"
export { DEFAULT_BACKEND } from "../pairing/default-backend.ts"
export { findConfigurationFile, readConfigurationFile, type FileSettings } from "./file.ts"
export {
  defaultConfiguration,
  loadConfiguration,
  type ConfigurationInputs,
  type LoadedConfiguration,
  type PartialConfiguration,
} from "./load.ts"
export { configurationSchema } from "./schema.ts"
export type { Setting, SettingNature, SettingType } from "./setting.ts"
export { SETTINGS, type Configuration } from "./settings.ts"
export { shownSettings } from "./shown.ts"
export { isTrusted, trustFile, type TrustRequest, type TrustState } from "./trust/decide.ts"
export type { Demand } from "./trust/demands.ts"
export { trustStore, type TrustEntry, type TrustStore } from "./trust/store.ts"
export type { WaitingSetting } from "./trust/waiting.ts"
