/** A secret as it may be shown: its last four characters at most. */
export function mask(secret: string): string {
  return secret.length > 12 ? `••••${secret.slice(-4)}` : "••••"
}
