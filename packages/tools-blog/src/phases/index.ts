import type { ToolDefinition } from "@toolwright/toolbox"
import { createAnalyzePromptTool } from "./analyze-prompt.ts"
import { createAssembleContentTool } from "./assemble-content.ts"
import { createExpandSectionTool } from "./expand-section.ts"
import { createGenerateOutlineTool } from "./generate-outline.ts"
import type { PhaseHost } from "./generator.ts"
import { createNewsletterTool } from "./newsletter.ts"
import { createSocialPostsTool } from "./social-posts.ts"

export type { PhaseHost, TextGenerator } from "./generator.ts"

/** The phases of writing a post as tools, in their usual order. */
export function createPhaseTools(host: PhaseHost): ToolDefinition[] {
  return [
    createAnalyzePromptTool(host),
    createGenerateOutlineTool(host),
    createExpandSectionTool(host),
    createAssembleContentTool(host),
    createNewsletterTool(host),
    createSocialPostsTool(host),
  ]
}
