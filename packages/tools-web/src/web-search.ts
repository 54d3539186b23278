import { defineTool, type ToolDefinition, type ToolHandler, type JsonSchema } from "@toolwright/toolbox"
import type { NetworkHost } from "@toolwright/host/net"
import type { WebSearchConfig } from "./search-config.ts"

export type { WebSearchConfig } from "./search-config.ts"

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    query: {
      type: "string",
      minLength: 1,
      maxLength: 400,
      description: "What to search for; at most 400 characters and 50 words",
    },
    count: { type: "integer", minimum: 1, maximum: 20, default: 10, description: "How many results" },
    page: { type: "integer", minimum: 0, maximum: 9, default: 0, description: "Which page of results, from 0" },
    country: {
      type: "string",
      pattern: "^([A-Za-z]{2}|ALL)$",
      description: "Two-letter country code to search from, e.g. DE",
    },
    language: {
      type: "string",
      pattern: "^[a-z]{2}(-[a-z]{2,4})?$",
      description: "Language of the results, e.g. en",
    },
    freshness: {
      type: "string",
      pattern: "^(pd|pw|pm|py|\\d{4}-\\d{2}-\\d{2}to\\d{4}-\\d{2}-\\d{2})$",
      description: "Age of the results: pd (day), pw (week), pm (month), py (year), or 2026-01-01to2026-01-31",
    },
    safesearch: {
      type: "string",
      enum: ["off", "moderate", "strict"],
      default: "moderate",
      description: "Filter for adult content",
    },
  },
  required: ["query"],
  additionalProperties: false,
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    query: { type: "string" },
    results: {
      type: "array",
      items: {
        type: "object",
        properties: {
          rank: { type: "integer", minimum: 1 },
          title: { type: "string" },
          url: { type: "string" },
          snippet: { type: "string" },
          age: { type: "string", description: "When the page was published, as the service says it" },
        },
        required: ["rank", "title", "url", "snippet"],
      },
    },
    total: { type: "integer", description: "Number of results returned; the service tells no overall number" },
    metadata: {
      type: "object",
      properties: {
        took_ms: { type: "number" },
        page: { type: "integer" },
        more_available: { type: "boolean" },
        corrected_query: { type: "string" },
        filters: { type: "object" },
      },
      required: ["took_ms", "page", "more_available", "filters"],
    },
  },
  required: ["query", "results", "total", "metadata"],
}

/** The tool that searches the web through the Brave Search API. */
export function createWebSearchTool(host: NetworkHost, config: WebSearchConfig = {}): ToolDefinition {
  let search: Promise<ToolHandler> | undefined
  return defineTool({
    name: "web_search",
    sets: ["general"],
    title: "Web search",
    description: "Searches the web and returns ranked results, each with title, URL and snippet.",
    category: "research",
    optionality: "optional",
    tags: ["web"],
    usageHint:
      "Use when: the answer is not in the workspace and may have changed since training, or a source must be " +
      "found. Don't use when: the URL is known (use webscrape) or the question is about local files (use search).",
    parameters: PARAMETERS,
    outputSchema: OUTPUT,
    aliases: {
      arguments: { q: "query", search_query: "query", limit: "count", num_results: "count" },
    },
    examples: [
      { description: "A plain search", input: { query: "SQLite WAL mode explained" } },
      { description: "Few recent results", input: { query: "Node.js release notes", count: 3, freshness: "pm" } },
    ],
    effects: { readOnly: true, idempotent: true, network: true },
    ...(config.apiKey === undefined ? { capabilities: ["env:BRAVE_API_KEY"] } : {}),
    produces: ["research"],
    timeoutMs: 30_000,
    maxOutputChars: 20_000,
    execute: async (args, context) => {
      search ??= import("./brave-client.ts").then((module) => module.createBraveSearch(host, config))
      return (await search)(args, context)
    },
  })
}
