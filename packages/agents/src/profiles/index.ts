import { ToolwrightError, nearest } from "@toolwright/toolbox"
import { assistantProfile } from "./assistant.ts"
import { builderProfile, debuggerProfile, reviewerProfile, triagerProfile } from "./coding.ts"
import { fileOwnerProfile } from "./file-owner.ts"
import { phasedBlogProfile, phasedBuilderProfile } from "./phased.ts"
import { blogProfile, migrationsProfile, podcastProfile } from "./publishing.ts"
import type { AgentProfile } from "./profile.ts"

/** The profiles that come with the package, by name. */
export const PROFILES: readonly AgentProfile[] = [
  assistantProfile,
  builderProfile,
  phasedBuilderProfile,
  debuggerProfile,
  reviewerProfile,
  triagerProfile,
  fileOwnerProfile,
  blogProfile,
  phasedBlogProfile,
  podcastProfile,
  migrationsProfile,
]

/** @throws ToolwrightError `UNKNOWN_AGENT`, with the nearest names */
export function profileNamed(name: string): AgentProfile {
  const profile = PROFILES.find((candidate) => candidate.name === name)
  if (profile !== undefined) return profile
  const names = PROFILES.map((candidate) => candidate.name)
  const close = nearest(name, names)[0]
  throw new ToolwrightError("UNKNOWN_AGENT", `There is no agent '${name}'.`, {
    hint: close === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${close}?`,
  })
}
