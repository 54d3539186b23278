export { SAFETY_CATEGORIES, SAFETY_LEVELS, type SafetyCategory, type SafetyLevel } from "./rules.ts"
export {
  createSafetyFilter,
  type SafetyFilter,
  type SafetyFinding,
  type SafetyOptions,
  type SafetyScanner,
} from "./safety-filter.ts"
export { createSafetyLogitFilter } from "./safety-logit-filter.ts"
