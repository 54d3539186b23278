/** Where a call's `_meta` carries its key: the same for every attempt at it; see `ToolContext.idempotencyKey`. */
export const IDEMPOTENCY_KEY = "toolwright/idempotencyKey"
