import { defineTool, type ToolDefinition, type ToolHandler, type JsonSchema } from "@toolwright/toolbox"
import type { NetworkHost } from "@toolwright/host/net"
import type { ArtifactStore } from "@toolwright/host"
import type { NotionConfig } from "./config.ts"

export type { NotionConfig } from "./config.ts"

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    action: { type: "string", enum: ["publish"], default: "publish" },
    title: {
      type: "string",
      minLength: 1,
      maxLength: 2000,
      description: "Title of the page; the first heading of the content unless given",
    },
    content: {
      type: "string",
      minLength: 1,
      maxLength: 1_000_000,
      description: "The text in Markdown; the artifact 'content' of this run unless given",
    },
    parent_id: {
      type: "string",
      pattern: "^[0-9a-fA-F-]{32,36}$",
      description: "Id of the page or database to publish under, instead of the configured one",
    },
    tags: {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: 100 },
      maxItems: 50,
      description: "Values for the database's multi-select property 'Tags'",
    },
    status: { type: "string", maxLength: 100, description: "Value for the database's property 'Status'" },
    idempotency_key: {
      type: "string",
      maxLength: 200,
      description: "Calls with one key make one page; derived from parent, title and content unless given",
    },
  },
  additionalProperties: false,
}

/** The tool that publishes a Markdown text as a page in Notion. */
export function createBlogNotionTool(
  host: NetworkHost,
  artifacts: ArtifactStore,
  config: NotionConfig = {},
): ToolDefinition {
  let publish: Promise<ToolHandler> | undefined
  return defineTool({
    name: "blog_notion",
    sets: ["blog", "blog-publishing", "general"],
    asks: true,
    title: "Publish to Notion",
    description:
      "Publishes a Markdown text as a page in Notion, under the configured page or database. Publishing the same " +
      "text twice makes one page; a publication that broke off is taken up where it stopped.",
    category: "publish",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: publishing was asked for and the content is finished. Don't use when: nobody asked for " +
      "publishing, or the text is still a draft in pieces (use assemble_content first).",
    parameters: PARAMETERS,
    outputSchema: {
      type: "object",
      properties: {
        url: { type: "string" },
        page_id: { type: "string" },
        blocks: { type: "integer", description: "Top-level blocks of the page" },
        already_published: { type: "boolean" },
        warnings: { type: "array", items: { type: "string" } },
      },
      required: ["url", "page_id", "blocks", "already_published"],
    },
    aliases: {
      arguments: { markdown: "content", body: "content", database_id: "parent_id", page_id: "parent_id" },
    },
    examples: [
      { description: "Publish what has been assembled in this run", input: { title: "Go contexts in practice" } },
      {
        description: "Publish a text",
        input: { title: "Release notes", content: "# Release notes\n\nEverything is faster." },
      },
    ],
    produces: ["published_url"],
    consumes: ["content"],
    effects: { readOnly: false, idempotent: true, network: true },
    capabilities: config.token === undefined ? ["env:NOTION_TOKEN"] : [],
    timeoutMs: 300_000,
    execute: async (args, context) => {
      publish ??= import("./publish.ts").then((module) => module.createPublisher(host, artifacts, config))
      return (await publish)(args, context)
    },
  })
}
