/**
 * GPT-2's way of writing bytes as printable characters, which byte-level BPE vocabularies use: printable ones stand for
 * themselves, the others for the characters from U+0100 on, in order.
 */
export function byteLevelAlphabet(): ReadonlyMap<string, number> {
  const table = new Map<string, number>()
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    table.set(String.fromCodePoint(printable ? byte : next++), byte)
  }
  return table
}

/** The bytes of a token of such a vocabulary; characters that stand for no byte count as themselves. */
export function byteLevelBytes(token: string, alphabet: ReadonlyMap<string, number>): Uint8Array {
  const encoder = new TextEncoder()
  const bytes: number[] = []
  for (const character of token) {
    const byte = alphabet.get(character)
    if (byte === undefined) bytes.push(...encoder.encode(character))
    else bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}
