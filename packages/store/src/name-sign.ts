/**
 * What all spellings of a path have in common that some file system takes for one file: upper and lower case, and
 * letters with their accents as one sign or as two.
 */
export function nameSign(path: string): string {
  return path.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFC")
}
