import { createHash } from "node:crypto"
import { dirname, posix } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { fromArtifact, toArtifact, type Artifact } from "./artifact.ts"
import type { Workspace } from "@toolwright/host/paths"
import { languageOf, renderFile, type SourceFile } from "./render.ts"
import type { FileTemplates } from "./templates.ts"
import type { Language } from "./values.ts"

/** What is known of a generated file; kept beside the workspace's files in `.meta/<path>.json`. */
export interface ArtifactState extends SourceFile {
  version: 1
  path: string
  language: Language
  /** Whether somebody said that nothing is missing any more. */
  complete: boolean
  /** SHA-256 of the file as this state renders it. */
  hash: string
  /**
   * SHA-256 of the file that this one replaces: when the file still is that one, the writer was killed between the two
   * writes.
   */
  previousHash: string | null
}

/** Where the state of a generated file lies. */
export function statePath(path: string): string {
  return posix.join(".meta", `${path}.json`)
}

/**
 * Loads a generated file's state and compares it with the file.
 *
 * @returns undefined when there is neither a file nor a state
 * @throws ToolwrightError `NOT_GENERATED` when the file is there but was not made from artifacts, `CHANGED_OUTSIDE`
 *   when something else changed it since, `BROKEN_STATE` when the state cannot be read
 */
export async function loadState(
  workspace: Workspace,
  path: string,
  overwrite = false,
): Promise<ArtifactState | undefined> {
  const [state, file] = await Promise.all([readState(workspace, path), readIfThere(workspace, path)])
  if (state === undefined) {
    if (file === undefined || overwrite) return undefined
    throw new ToolwrightError("NOT_GENERATED", `${path} exists and was not made from JSON artifacts.`, {
      hint: 'Change it with the file tools, choose another path, or replace it as a whole with "overwrite": true.',
    })
  }
  // Without its file a state is an unfinished first write, or else somebody removed the file and with it what was in
  // it.
  if (file === undefined) return state.previousHash === null ? state : undefined
  const now = hashOf(file)
  if (now === state.hash || now === state.previousHash || overwrite) return state
  throw new ToolwrightError(
    "CHANGED_OUTSIDE",
    `${path} was changed by something else since it was generated; writing it would lose that.`,
    {
      hint: 'Put these changes into an artifact, or discard them with "overwrite": true.',
    },
  )
}

/** The text of a state's file, and the state with its hashes. */
export async function render(
  state: ArtifactState,
  templates?: FileTemplates,
): Promise<{ text: string; state: ArtifactState }> {
  const text = await renderFile(state.path, state, state.language, templates)
  const hash = hashOf(text)
  return { text, state: { ...state, hash, previousHash: state.hash === "" ? null : state.hash } }
}

/**
 * Writes a state, then its file. A kill in between leaves the new state beside the old file, which the state knows as
 * its predecessor: the next change renders both anew. So the file is always the old one or the new one, and no element
 * is lost.
 */
export async function saveState(workspace: Workspace, state: ArtifactState, text: string): Promise<void> {
  const stateFile = statePath(state.path)
  for (const folder of new Set([posix.dirname(stateFile), dirname(state.path)]))
    if (folder !== ".") await workspace.makeDirectory(folder)
  const kept = { ...state, elements: state.elements.map(toArtifact) }
  await workspace.write(stateFile, `${JSON.stringify(kept, null, 2)}\n`, { durable: true })
  await workspace.write(state.path, text)
}

export function emptyState(path: string, docstring?: string): ArtifactState {
  return {
    version: 1,
    path,
    language: languageOf(path),
    complete: false,
    hash: "",
    previousHash: null,
    elements: [],
    ...(docstring === undefined ? {} : { docstring }),
  }
}

async function readState(workspace: Workspace, path: string): Promise<ArtifactState | undefined> {
  const text = await readIfThere(workspace, statePath(path))
  if (text === undefined) return undefined
  try {
    const state = JSON.parse(text) as Omit<ArtifactState, "elements"> & { elements: Artifact[] }
    if (state.version === 1)
      return { ...state, elements: state.elements.map(fromArtifact), path, language: languageOf(path) }
  } catch {
    // Told below.
  }
  throw new ToolwrightError("BROKEN_STATE", `${statePath(path)} cannot be read.`, {
    hint: 'Delete it, then write the file anew with "overwrite": true.',
  })
}

export async function readIfThere(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    return (await workspace.read(path)).bytes.toString("utf8")
  } catch (thrown) {
    if (ToolwrightError.isInstance(thrown) && thrown.code === "NOT_FOUND") return undefined
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw thrown
  }
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
