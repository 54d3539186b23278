import { existsSync } from "node:fs"
import { mkdir, rename, writeFile } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { loadScreenplay, type Screenplay } from "@toolwright/backends"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { HOW_TO_RECORD } from "./mode.ts"
import { packRequests, unpackRequests, type PlainRequest } from "./request.ts"

/** A recording in memory: what is played, and what was asked, step by step. */
export interface Recording {
  screenplay: Screenplay
  requests: (PlainRequest | undefined)[]
}

/** @throws ToolwrightError `RECORDING_MISSING`, `RECORDING_INVALID` */
export async function readRecording(file: string): Promise<Recording> {
  if (!existsSync(file))
    throw new ToolwrightError("RECORDING_MISSING", `There is no recording ${file} yet. ${HOW_TO_RECORD}`)
  try {
    const screenplay = await loadScreenplay(file)
    return { screenplay, requests: unpackRequests(screenplay.steps.map(({ sent }) => sent)) }
  } catch (cause) {
    throw new ToolwrightError(
      "RECORDING_INVALID",
      `The recording cannot be used: ${messageOf(cause)}\n${HOW_TO_RECORD}`,
      { cause },
    )
  }
}

/** Writes a recording whole or not at all. */
export async function writeRecording(file: string, { screenplay, requests }: Recording): Promise<void> {
  const { stringify } = await import("yaml")
  const packed = packRequests(requests.map((request) => request ?? { messages: [] }))
  const steps = screenplay.steps.map((step, at) => ({ sent: packed[at], ...step }))
  const text =
    `# Recorded by @toolwright/testing. ${HOW_TO_RECORD}\n` +
    `${stringify({ ...screenplay, steps }, { lineWidth: 0, aliasDuplicateObjects: false })}`
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}.tmp`
  await writeFile(draft, text)
  await rename(draft, file)
}

export const nameOf = (file: string): string => basename(file)
