/** Configuration of publishing to Notion. */
export interface NotionConfig {
  /** An integration's token; the environment variable `NOTION_TOKEN` unless given. */
  token?: string
  /** The page or database that posts go under; the environment variable `NOTION_PARENT_ID` unless given. */
  parentId?: string
  /** Address of the service; `https://api.notion.com` unless given. */
  baseUrl?: string
  /** Waits before trying again; replaced by tests. Milliseconds. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}
