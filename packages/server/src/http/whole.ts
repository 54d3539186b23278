/** A whole number of a query within bounds. */
export function whole(given: string | undefined, fallback: number, least: number, most: number): number {
  const value = Math.trunc(Number(given === undefined || given === "" ? fallback : given))
  return Number.isNaN(value) ? fallback : Math.min(most, Math.max(least, value))
}
