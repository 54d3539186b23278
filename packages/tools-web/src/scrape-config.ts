/** Configuration of the page reader. */
export interface WebscrapeConfig {
  /** Longest time for turning a page into text; 10 s unless given. Milliseconds. */
  extractMs?: number
  /** Most memory for that, in MiB; 192 unless given. */
  extractMemoryMb?: number
}
