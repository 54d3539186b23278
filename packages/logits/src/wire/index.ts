export * from "./delivery.ts"
export {
  constraintBody,
  constraintsIn,
  type ConstraintServer,
  type WireConstraint,
  type StructuralTag,
} from "./request-body.ts"
export { saysNoConstraint } from "./refusals.ts"
