import { failure, success, type JsonSchema, type ToolDefinition, type ToolResult } from "@toolwright/toolbox"
import { defineMultiActionTool } from "@toolwright/host"

/** One link that whoever runs this wants posts to carry. */
export interface StaticLink {
  name: string
  url: string
  description?: string
}

/** Configuration of the fixed links. */
export interface StaticLinksConfig {
  /** Profiles, such as `{ name: "Mastodon", url: "https://…" }`. */
  social?: readonly StaticLink[]
  /** Everything else: newsletter, sponsors, other projects. */
  custom?: readonly StaticLink[]
  /** What stands in a post where the video will be; a neutral line unless given. */
  youtubePlaceholder?: string
}

const DEFAULT_PLACEHOLDER = "<!-- Video: put the YouTube link here -->"
const LINKS: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { name: { type: "string" }, url: { type: "string" }, description: { type: "string" } },
    required: ["name", "url"],
  },
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: { social: LINKS, custom: LINKS, youtube_placeholder: { type: "string" } },
}

/** The tool that gives the links from the configuration; it touches nothing else. */
export function createStaticLinksTool(config: StaticLinksConfig = {}): ToolDefinition {
  const { social = [], custom = [], youtubePlaceholder = DEFAULT_PLACEHOLDER } = config
  return defineMultiActionTool({
    name: "static_links",
    sets: ["blog", "blog-research"],
    title: "Fixed links",
    description:
      "Gives the fixed links of this blog from the configuration: social profiles, custom links, and the " +
      "placeholder for a video.",
    category: "research",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: a post or newsletter should carry the blog's own links. Don't use when: links on a subject are " +
      "wanted (use web_search or rss_feed).",
    outputSchema: OUTPUT,
    effects: { readOnly: true, idempotent: true },
    produces: ["research"],
    actions: {
      get_all: {
        description: "All links and the video placeholder",
        properties: {},
        execute: () => answer({ social, custom, youtube_placeholder: youtubePlaceholder }),
        examples: [{ description: "Everything", input: {} }],
      },
      get_social: {
        description: "Links to social profiles",
        properties: {},
        execute: () => answer({ social }),
        examples: [{ description: "Social profiles", input: {} }],
      },
      get_custom: {
        description: "All other links",
        properties: {},
        execute: () => answer({ custom }),
        examples: [{ description: "Custom links", input: {} }],
      },
      get_youtube_placeholder: {
        description: "The line that stands for a video that does not exist yet",
        properties: {},
        execute: () => answer({ youtube_placeholder: youtubePlaceholder }),
        examples: [{ description: "The placeholder", input: {} }],
      },
    },
  })
}

/** Links of the configuration, and the line that stands for a video. */
interface Parts {
  social?: readonly StaticLink[]
  custom?: readonly StaticLink[]
  youtube_placeholder?: string
}

function answer(parts: Parts): ToolResult {
  const { social = [], custom = [], youtube_placeholder: placeholder } = parts
  if (social.length === 0 && custom.length === 0 && placeholder === undefined) {
    return failure({
      code: "NOT_CONFIGURED",
      message: "No such links are configured.",
      hint: "Go on without them; do not make links up.",
    })
  }
  const lines = [
    ...listed("Social", social),
    ...listed("Links", custom),
    ...(placeholder === undefined ? [] : [`YouTube placeholder: ${placeholder}`]),
  ]
  return success({ output: lines.join("\n"), data: parts })
}

function listed(title: string, links: readonly StaticLink[]): string[] {
  if (links.length === 0) return []
  const line = ({ name, url, description }: StaticLink): string =>
    `- [${name}](${url})${description === undefined ? "" : ` – ${description}`}`
  return [`${title}:`, ...links.map(line)]
}
