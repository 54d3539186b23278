import type { JsonSchema, ToolDefinition, ToolHandler } from "@toolwright/toolbox"
import { defineMultiActionTool } from "@toolwright/host"
import type { NetworkHost } from "@toolwright/host/net"
import type { RssFeedConfig } from "./feed-config.ts"

export type { RssFeedConfig } from "./feed-config.ts"

const LIMIT: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: 100,
  default: 5,
  description: "Most entries of a feed, newest first",
}

const FEED: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", description: "Its name in the configuration" },
    url: { type: "string" },
    title: { type: "string" },
    description: { type: "string" },
    link: { type: "string" },
    format: { type: "string", enum: ["rss", "atom", "rdf", "json"] },
    total: { type: "integer", description: "Entries in the feed, without duplicates" },
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          title: { type: "string" },
          url: { type: "string" },
          published: { type: "string", description: "ISO 8601, where the feed gives a date" },
          author: { type: "string" },
          summary: { type: "string" },
          categories: { type: "array", items: { type: "string" } },
        },
        required: ["title", "url", "summary"],
      },
    },
    error: { type: "string", description: "Why this feed could not be read" },
  },
  required: ["url", "items"],
}

/** The tool that reads RSS, Atom, RDF and JSON feeds. */
export function createRssFeedTool(host: NetworkHost, config: RssFeedConfig = {}): ToolDefinition {
  let read: Promise<ToolHandler> | undefined
  const run: ToolHandler = async (args, context) => {
    read ??= import("./read-feeds.ts").then((module) => module.createFeedReader(host, config))
    return (await read)(args, context)
  }
  const names = (config.feeds ?? []).map(({ name }) => name)
  return defineMultiActionTool({
    name: "rss_feed",
    sets: ["blog", "blog-research", "general"],
    title: "RSS feeds",
    description:
      "Reads RSS, Atom and JSON feeds: one by its URL, or the ones that are configured. Returns the newest entries.",
    category: "research",
    optionality: "optional",
    tags: ["blog", "web"],
    usageHint:
      "Use when: recent posts or news of a site are wanted and it has a feed. Don't use when: one page's content " +
      "is needed (use webscrape), or a subject is searched for (use web_search).",
    outputSchema: { type: "object", properties: { feeds: { type: "array", items: FEED } }, required: ["feeds"] },
    aliases: {
      arguments: { feed_url: "url", max_items: "limit", count: "limit", feed: "name" },
    },
    effects: { readOnly: true, idempotent: true, network: true },
    produces: ["research"],
    timeoutMs: 60_000,
    maxOutputChars: 20_000,
    actions: {
      fetch: {
        description: "Reads one feed by its URL",
        properties: {
          url: { type: "string", minLength: 1, description: "Address of the feed, http or https" },
          limit: LIMIT,
        },
        required: ["url"],
        execute: run,
        examples: [
          { description: "The five newest entries of a feed", input: { url: "https://example.com/feed.xml" } },
        ],
      },
      get_configured: {
        description:
          names.length === 0
            ? "Reads the configured feeds (there are none)"
            : `Reads the configured feeds: ${names.join(", ")}`,
        properties: {
          name: {
            type: "string",
            ...(names.length === 0 ? {} : { enum: names }),
            description: "Only this feed; all of them unless given",
          },
          limit: LIMIT,
        },
        execute: run,
        examples: [{ description: "Three entries of each configured feed", input: { limit: 3 } }],
      },
    },
  })
}
