import * as fc from "fast-check"

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character of Unicode, for `fc.string({ unit })`. The library's own unit `binary` is a table of all of them, which
 * takes a second to make in each process.
 */
export const anyCharacter = fc
  .nat(0x10ffff - SURROGATES.count)
  .map((at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count))
