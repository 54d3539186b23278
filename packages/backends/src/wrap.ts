import type { Backend } from "./model/backend.ts"

/**
 * A backend in front of another: what is not given passes through. The inner one is asked when it is needed, so what
 * changes about it is seen.
 *
 * @example
 * const slow = wrapBackend(backend, {
 *   async *infer(request, options) {
 *     await delay(1000, options?.signal)
 *     yield* backend.infer(request, options)
 *   },
 * })
 */
export function wrapBackend<Own extends Partial<Backend>>(backend: Backend, own: Own): Backend & Own {
  const wrapped: Backend = {
    kind: backend.kind,
    get abilities() {
      return backend.abilities
    },
    modelName: () => backend.modelName(),
    infer: (request, options) => backend.infer(request, options),
    ...(backend.api === undefined ? {} : { api: backend.api }),
    ...(backend.modelFormat === undefined ? {} : { modelFormat: backend.modelFormat }),
    ...(backend.contextTokens === undefined ? {} : { contextTokens: backend.contextTokens }),
    ...(backend.groundingText === undefined ? {} : { groundingText: (messages) => backend.groundingText!(messages) }),
    ...(backend.leavesOut === undefined ? {} : { leavesOut: (request) => backend.leavesOut!(request) }),
    ...(backend.forward === undefined
      ? {}
      : { forward: (path, body, options) => backend.forward!(path, body, options) }),
    ...(backend.tokenize === undefined ? {} : { tokenize: (text, options) => backend.tokenize!(text, options) }),
    ...(backend.close === undefined ? {} : { close: () => backend.close!() }),
  }
  return Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(own)) as Backend & Own
}
