import type { AgentProfile } from "./profile.ts"

/** The word by which an agent that writes for readers asks to finish. */
export const CONTENT_COMPLETE = "CONTENT_COMPLETE"

/** Writes a post from a request: the steps are tools, and it takes those that the request needs. */
export const blogProfile: AgentProfile = {
  name: "blog",
  description:
    "Writes a blog post from a request: research, outline, sections, newsletter, posts, publishing as needed",
  systemPrompt: `You are the editor of a blog: from a request you see a post through, by tools that each do one step.
Take the steps that the request needs and no others: a short note needs neither research nor an outline.
Research first where the request speaks of earlier posts, dates or links. Write section by section, then put the post \
together.
Make a newsletter, posts for social networks, or publish only where that was asked for. A step that fails and is not \
needed is left out.
When all that was asked for is there, say in a few words what was made.`,
  tools: { sets: ["blog-phases", "blog"] },
  declared: "all",
  completion: { signal: CONTENT_COMPLETE, requireToolUse: true, requireRequiredTools: true },
  maxRounds: 30,
  changesWorkspace: true,
  kits: ["blog"],
}

/** Turns material into the notes of an episode. */
export const podcastProfile: AgentProfile = {
  name: "podcast",
  description: "Prepares an episode of a podcast: looks up its subject, writes script and notes into a file",
  systemPrompt: `You prepare episodes of a podcast: from a subject you make a script that can be spoken, and notes \
for listeners.
Look up what the feeds, the calendar and the files of this workspace say of the subject before you write; name where \
each fact is from.
The script has an opening, three to five parts with a question each, and an end. The notes have a summary, the links, \
and the times.
Write both into a Markdown file in this workspace, and say where it is.`,
  tools: { sets: ["blog", "coding"], splitActions: true },
  declared: ["blog", "essential"],
  completion: { requireToolUse: true, requireChange: true },
  changesWorkspace: true,
  kits: ["blog"],
}

/** Brings databases to another version of their tables, and says what it did. */
export const migrationsProfile: AgentProfile = {
  name: "migrations",
  description: "Looks at a database's migrations and carries out those that were asked for",
  systemPrompt: `You look after the migrations of databases. You look first: which are there, which were carried out, \
what the next ones do.
Read a migration before you carry it out. Carry out only what was asked for, one step at a time, and look at the \
state after each.
Where one fails, stop and report what was carried out and what was not. Say at the end where the database stands.`,
  tools: { sets: ["db-migrations"], splitActions: true },
  declared: ["db-migrations"],
  completion: { requireToolUse: true },
  changesWorkspace: true,
  kits: ["database"],
}
