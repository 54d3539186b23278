/** Single tokens in a mask, with those that have the same bytes. */

/** @param twins see `Tokenizer.twins` */
export function setToken(mask: Uint32Array, token: number, twins: Int32Array | undefined): void {
  for (let id = token; id >= 0; id = twins?.[id] ?? -1) mask[id >>> 5]! |= 1 << (id & 31)
}

export function unsetToken(mask: Uint32Array, token: number, twins: Int32Array | undefined): void {
  for (let id = token; id >= 0; id = twins?.[id] ?? -1) mask[id >>> 5]! &= ~(1 << (id & 31))
}
