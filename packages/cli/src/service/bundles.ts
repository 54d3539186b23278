/** The bundle that an MCP host is listed where none is chosen, and the word for all of them. */
export const LISTED_BUNDLE = "coding"
export const ALL_BUNDLES = "all"
