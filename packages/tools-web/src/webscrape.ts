import { defineTool, type ToolDefinition, type ToolHandler, type JsonSchema } from "@toolwright/toolbox"
import type { NetworkHost } from "@toolwright/host/net"
import type { WebscrapeConfig } from "./scrape-config.ts"

export type { WebscrapeConfig } from "./scrape-config.ts"

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    url: { type: "string", minLength: 1, description: "Address of the page, http or https" },
    mode: {
      type: "string",
      enum: ["article", "full"],
      default: "article",
      description: "article: the main text alone; full: everything visible, for indexes and listings",
    },
    offset: {
      type: "integer",
      minimum: 0,
      default: 0,
      description: "Where to go on in a long page, in characters",
    },
    max_chars: {
      type: "integer",
      minimum: 200,
      maximum: 100000,
      default: 20000,
      description: "Most characters to return",
    },
  },
  required: ["url"],
  additionalProperties: false,
}

/** The tool that fetches a web page and returns its readable part as Markdown. */
export function createWebscrapeTool(host: NetworkHost, config: WebscrapeConfig = {}): ToolDefinition {
  let scrape: Promise<ToolHandler> | undefined
  return defineTool({
    name: "webscrape",
    sets: ["blog", "general"],
    title: "Read a web page",
    description:
      "Fetches a web page and returns its readable content as Markdown, without navigation, scripts and hidden " +
      "text. Long pages come in parts: pass next_offset as offset. Plain text, JSON and XML come as they are.",
    category: "research",
    optionality: "optional",
    tags: ["web"],
    usageHint:
      "Use when: the content of a known public URL is needed. Don't use when: you only need to find pages (use " +
      "web_search), for feeds (use rss_feed), for GitHub pull requests (use get_github_pull_request_info), or " +
      "for local files.",
    parameters: PARAMETERS,
    outputSchema: {
      type: "object",
      properties: {
        url: { type: "string", description: "Where the page was found, after redirects" },
        title: { type: "string" },
        byline: { type: "string" },
        published: { type: "string" },
        content_type: { type: "string" },
        markdown: { type: "string" },
        offset: { type: "integer" },
        total_chars: { type: "integer" },
        truncated: { type: "boolean" },
        next_offset: { type: "integer" },
      },
      required: ["url", "title", "content_type", "markdown", "offset", "total_chars", "truncated"],
    },
    aliases: {
      arguments: { page_url: "url", link: "url", start: "offset", start_index: "offset", max_length: "max_chars" },
    },
    examples: [
      { description: "The main text of an article", input: { url: "https://example.com/article" } },
      {
        description: "Everything on an index page",
        input: { url: "https://example.com/", mode: "full", max_chars: 5000 },
      },
    ],
    effects: { readOnly: true, idempotent: true, network: true },
    produces: ["research"],
    timeoutMs: 60_000,
    maxOutputChars: 101_000,
    execute: async (args, context) => {
      scrape ??= import("./read-page.ts").then((module) => module.createPageReader(host, config))
      return (await scrape)(args, context)
    },
  })
}
