/** Filters of logits: each says what may come next, and is told what came. */

/** Something that changes logits before a token is drawn. A filter belongs to one reply. */
export interface LogitFilter {
  /** Says in records which filter it was. */
  readonly name: string
  /** Changes the logits in place: index is the token's id. Called before the temperature and every other sampler. */
  apply(logits: Float32Array): void
  /**
   * Tells which token was drawn. @returns false where this filter would not have allowed it; the filter is then where
   * it was
   */
  accept(token: number): boolean
  /** Takes back the last tokens. @throws RangeError where there are not so many */
  rollback(tokens?: number): void
  /** Back to the beginning of a reply. */
  reset(): void
  /** A filter at the same place that goes its own way. */
  clone(): LogitFilter
}

/** Several filters as one: applied in their order; a token is accepted where all accept it. */
export interface FilterChain extends LogitFilter {
  readonly filters: readonly LogitFilter[]
}

export function createFilterChain(filters: readonly LogitFilter[], name = "chain"): FilterChain {
  return {
    name,
    filters,
    apply(logits) {
      for (const filter of filters) filter.apply(logits)
    },
    accept(token) {
      for (const [index, filter] of filters.entries()) {
        if (filter.accept(token)) continue
        for (const earlier of filters.slice(0, index)) earlier.rollback()
        return false
      }
      return true
    },
    rollback(tokens = 1) {
      for (const filter of filters) filter.rollback(tokens)
    },
    reset() {
      for (const filter of filters) filter.reset()
    },
    clone: () =>
      createFilterChain(
        filters.map((filter) => filter.clone()),
        name,
      ),
  }
}
