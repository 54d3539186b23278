import { grammarOf } from "./languages.ts"
import { outline, type Symbol } from "./outline.ts"

/**
 * What a source file declares for others to use: the first line of each declaration, with those of members below it;
 * names that begin with an underscore are its own affair, but for a constructor.
 *
 * @returns undefined for a file of a language that is not read
 */
export async function interfaceOf(path: string, source: string): Promise<string | undefined> {
  const grammar = grammarOf(path)
  if (grammar === undefined) return undefined
  return linesOf(await outline(source, grammar), "").join("\n")
}

function linesOf(symbols: readonly Symbol[], indent: string): string[] {
  return symbols
    .filter(({ name }) => !name.startsWith("_") || name === "__init__")
    .flatMap(({ signature, members = [] }) => [`${indent}${signature.trim()}`, ...linesOf(members, `${indent}    `)])
}
