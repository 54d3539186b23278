export { defineMultiActionTool, type ActionSpecification, type MultiActionSpecification } from "./multi-action.ts"
