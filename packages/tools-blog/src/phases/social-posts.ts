import {
  defineTool,
  failure,
  success,
  type JsonObject,
  type JsonSchema,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { cleanText } from "@toolwright/host/net"
import { missingArtifact } from "@toolwright/host"
import { isFailure, MATERIAL_RULE, quoted, writeJson, type PhaseHost } from "./generator.ts"
import { NETWORKS, shorten, type NetworkName } from "./social-limits.ts"

const NAMES = Object.keys(NETWORKS) as NetworkName[]

interface Post {
  network: NetworkName
  text: string
  length: number
  limit: number
  shortened: boolean
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    posts: {
      type: "array",
      items: {
        type: "object",
        properties: {
          network: { type: "string", enum: NAMES },
          text: { type: "string" },
          length: { type: "integer" },
          limit: { type: "integer" },
          shortened: { type: "boolean" },
        },
        required: ["network", "text", "length", "limit", "shortened"],
      },
    },
  },
  required: ["posts"],
}

const EXAMPLES: NonNullable<ToolDefinition["examples"]> = [
  {
    description: "Check your own post",
    input: { posts: { bluesky: "New: Go contexts, explained in ten minutes." } },
  },
]

const POSTS: JsonSchema = {
  type: "object",
  properties: Object.fromEntries(
    NAMES.map((name) => [
      name,
      {
        type: "string",
        minLength: 1,
        maxLength: 10_000,
        description: `At most ${NETWORKS[name].limit} ${NETWORKS[name].unit}`,
      },
    ]),
  ),
  additionalProperties: false,
  minProperties: 1,
}

/** The tool that writes posts which announce the content, none longer than its network allows. */
export function createSocialPostsTool(host: PhaseHost): ToolDefinition {
  const isSelf = host.generator === undefined
  const limits = NAMES.map((name) => `${name} ${NETWORKS[name].limit}`).join(", ")
  return defineTool({
    name: "generate_social_posts",
    sets: ["blog-phases", "blog-social"],
    title: "Write social posts",
    description:
      "Writes posts that announce the content on social networks, and makes sure that none is too " +
      `long (${limits}).`,
    category: "publish",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: posts for social networks were asked for and the content is finished. Don't use when: nobody " +
      "asked for them. Nothing is posted anywhere.",
    parameters: {
      type: "object",
      properties: {
        networks: {
          type: "array",
          items: { type: "string", enum: NAMES },
          minItems: 1,
          uniqueItems: true,
          description: "For which networks; all unless given",
        },
        url: {
          type: "string",
          pattern: "^https?://",
          maxLength: 2000,
          description: "Address of the post; the published one of this run unless given",
        },
        posts: { ...POSTS, description: isSelf ? "Your posts" : "Your own posts, instead of generated ones" },
        content: {
          type: "string",
          minLength: 1,
          maxLength: 1_000_000,
          description: "What to announce; the artifact 'content' of this run unless given",
        },
      },
      ...(isSelf ? { required: ["posts"] } : {}),
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    aliases: { arguments: { platforms: "networks", link: "url" } },
    examples: EXAMPLES,
    consumes: ["content"],
    produces: ["social_posts"],
    effects: { readOnly: false },
    execute: (args, context) => runSocialPosts(host, args, context),
  })
}

async function runSocialPosts(host: PhaseHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const posts =
    args.posts === undefined
      ? await generated(host, args, context)
      : checked(args.posts as Partial<Record<NetworkName, string>>)
  if (!Array.isArray(posts)) return posts
  host.artifacts.set(context, "social_posts", posts)
  const output = posts
    .map(
      ({ network, text, length, limit, shortened }) =>
        `${NETWORKS[network].name} (${length} of ${limit}${shortened ? ", shortened" : ""}):\n${text}`,
    )
    .join("\n\n")
  return success({ output, data: { posts }, metadata: { artifact: "social_posts" } })
}

/** Posts that the caller wrote; too long ones are refused, since only their author knows what to leave out. */
function checked(posts: Partial<Record<NetworkName, string>>): Post[] | ToolResult {
  const made = NAMES.filter((name) => posts[name] !== undefined).map((network) =>
    postOf(network, cleanText(posts[network] as string).trim(), false),
  )
  const tooLong = made.filter(({ length, limit }) => length > limit)
  if (tooLong.length === 0) return made
  return failure({
    code: "POST_TOO_LONG",
    message: tooLong
      .map(
        ({ network, length, limit }) =>
          `The post for ${NETWORKS[network].name} has ${length} ${NETWORKS[network].unit}; ${limit} are allowed.`,
      )
      .join(" "),
    hint:
      `Shorten ${tooLong.map(({ network, length, limit }) => `${network} by ${length - limit}`).join(", ")} ` +
      "and call again.",
    details: { posts: tooLong.map(({ network, length, limit }) => ({ network, length, limit })) },
  })
}

async function generated(host: PhaseHost, args: JsonObject, context: ToolContext): Promise<Post[] | ToolResult> {
  const content = args.content ?? host.artifacts.get(context, "content")
  if (typeof content !== "string") {
    return missingArtifact("content", "Announcing a post", "Call assemble_content first, or pass the text as content.")
  }
  const networks = (args.networks as NetworkName[] | undefined) ?? NAMES
  const url = args.url ?? host.artifacts.get(context, "published_url")
  const schema: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(networks.map((name) => [name, { type: "string", minLength: 1 }])),
    required: networks,
  }
  const rules = networks.map((name) => `${name}: at most ${NETWORKS[name].limit} ${NETWORKS[name].unit}`).join("; ")
  const prompt = [
    `Write one post for each of these networks that announces the text. ${rules}.`,
    typeof url === "string" ? `Each ends with this link: ${url}` : "Put no link into them.",
    quoted("the text to announce", content, 12_000),
    MATERIAL_RULE,
  ].join("\n")
  let complaint = ""
  for (let attempt = 0; ; attempt++) {
    const written = await writeJson(
      host,
      `${prompt}${complaint}`,
      schema,
      context,
      'Pass them: {"posts": {"bluesky": "…"}}',
    )
    if (isFailure(written)) return written
    const posts = networks.map((network) =>
      postOf(network, cleanText(String(written[network]).slice(0, 10_000)).trim(), false),
    )
    const tooLong = posts.filter(({ length, limit }) => length > limit)
    if (tooLong.length === 0) return posts
    if (attempt === 1)
      return posts.map((post) =>
        post.length > post.limit ? postOf(post.network, shorten(post.text, NETWORKS[post.network]), true) : post,
      )
    complaint =
      `\nAn earlier answer was too long: ` +
      `${tooLong.map(({ network, length, limit }) => `${network} had ${length} of ${limit}`).join(", ")}. Write ` +
      "shorter ones."
  }
}

function postOf(network: NetworkName, text: string, shortened: boolean): Post {
  return { network, text, length: NETWORKS[network].length(text), limit: NETWORKS[network].limit, shortened }
}
