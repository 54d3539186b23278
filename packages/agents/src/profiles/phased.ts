import type { JsonSchema } from "@toolwright/toolbox"
import { builderProfile } from "./coding.ts"
import type { AgentProfile, PhaseProfile } from "./profile.ts"
import { blogProfile } from "./publishing.ts"

const words = (description: string): JsonSchema => ({ type: "string", minLength: 1, maxLength: 4000, description })
const list = (description: string): JsonSchema => ({
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 1000 },
  maxItems: 50,
  description,
})
const form = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const READING = { sets: ["reading"], readOnly: true, splitActions: true }

/**
 * The builder in five parts: a model that loses itself in a long conversation begins each with what the last came to.
 */
export const phasedBuilderProfile: AgentProfile = {
  ...builderProfile,
  name: "phased-builder",
  description: "A builder in five phases: looks, plans, writes, checks, hands in; each with a conversation of its own",
  systemPrompt: `You are a builder: you make a change in the code of this workspace, in phases.
Change as little as the task needs, in the style that you find.`,
  phases: [
    {
      name: "analyse",
      prompt:
        "Find out where the change belongs: search for the place, read it, and read its tests. Change nothing yet.",
      tools: READING,
      readOnly: true,
      maxRounds: 10,
      completion: { requireToolUse: true },
      handsOver: {
        artifact: "analysis",
        schema: form({
          summary: words("What there is, and what the task means for it"),
          files: list("The files that matter, from the top of the workspace"),
        }),
      },
    },
    {
      name: "plan",
      prompt: "Say which changes are to be made, in their order, and how they are checked.",
      tools: READING,
      readOnly: true,
      maxRounds: 5,
      handsOver: {
        artifact: "plan",
        schema: form({ steps: list("The changes, one each, with the file"), checks: list("How they are checked") }),
      },
    },
    {
      name: "implement",
      prompt: "Make the changes of the plan. Run the tests as you go.",
      maxRounds: 30,
      completion: { requireChange: true },
      handsOver: {
        artifact: "changes",
        schema: form({ summary: words("What was changed, and why"), files: list("The files that were changed") }),
      },
    },
    {
      name: "validate",
      prompt: "Run all checks. When one fails, read its report, correct the code, and run them again.",
      maxRounds: 15,
      completion: { requireValidation: true },
      handsOver: { artifact: "validation", schema: form({ summary: words("What was checked, and with what result") }) },
    },
    { name: "deliver", prompt: "Commit what was changed, with a message that says why.", maxRounds: 5 },
  ],
}

/** One step of a post: the tools that serve it, and what has to be there before it ends. */
function step(name: string, set: string, prompt: string, artifact?: string): PhaseProfile {
  return {
    name,
    prompt,
    tools: { sets: [set] },
    maxRounds: 6,
    ...(artifact === undefined ? {} : { completion: { requiredArtifacts: [artifact] } }),
    handsOver: { schema: form({ summary: words("What was made, or why nothing was needed") }) },
  }
}

/** The blog's agent with its seven steps in their order, for comparison with the one that takes those it needs. */
export const phasedBlogProfile: AgentProfile = {
  ...blogProfile,
  name: "phased-blog",
  description: "Writes a blog post in seven phases, always in the same order; 'blog' takes those that are needed",
  systemPrompt: `You are the editor of a blog: you see a post through, in phases, by tools that each do one step.
What the request did not ask for is left out: then the phase is ended at once, and says so.`,
  phases: [
    step("analyse", "blog-analysis", "Work out what the request asks for.", "analysis"),
    step("research", "blog-research", "Look up the earlier posts, dates and links that the request speaks of."),
    step("outline", "blog-outline", "Make the outline.", "outline"),
    step("write", "blog-writing", "Write each section, then put the post together.", "content"),
    step("newsletter", "blog-newsletter", "Make a newsletter, where one was asked for."),
    step("social", "blog-social", "Make posts for social networks, where they were asked for."),
    {
      ...step("publish", "blog-publishing", "Publish the post, where that was asked for."),
      completion: { requireToolUse: false },
    },
  ],
}
