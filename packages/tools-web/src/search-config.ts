/** Configuration of the web search. */
export interface WebSearchConfig {
  /** A key of the Brave Search API; the environment variable `BRAVE_API_KEY` unless given. */
  apiKey?: string
  /** Address of the service; `https://api.search.brave.com/res/v1/web/search` unless given. */
  url?: string
  /** Longest time for one search; 15 s unless given. Milliseconds. */
  timeoutMs?: number
}
