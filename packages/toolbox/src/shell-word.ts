/** A text as a POSIX shell reads it back: within single quotes nothing has a meaning of its own. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The same, as people write it: a word that no shell reads otherwise stands by itself. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word)
}
