import { readdirSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { readStateFile } from "@toolwright/host/state-files"
import { messageOf, ToolwrightError } from "@toolwright/toolbox/errors"

const ENDING = /\.ya?ml$/
/** Far more than anybody writes; what is larger is no agent. */
const LARGEST_BYTES = 64 * 1024
const MOST_FILES = 200

/** A file that describes an agent: its name is the agent's, unless it says another one. */
export interface AgentFile {
  path: string
  name: string
  text: string
}

/**
 * The files of an entry of the setting `agents.files`: the file itself, or every YAML file of a folder, by name.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where nothing is there, or it cannot be read
 */
export function agentFilesIn(path: string): AgentFile[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) {
    throw new ToolwrightError("INVALID_CONFIGURATION", `There are no agents at ${path}.`, {
      hint: "The setting 'agents.files' names YAML files and folders of them: ./agents, ./agents/release-notes.yaml.",
    })
  }
  if (!stat.isDirectory()) return [read(path)]
  const names = readdirSync(path).filter((name) => ENDING.test(name) && !/^[._]/.test(name))
  return names
    .sort()
    .slice(0, MOST_FILES)
    .map((name) => read(join(path, name)))
}

function read(path: string): AgentFile {
  let found: Uint8Array | undefined
  try {
    found = readStateFile(path, { limit: LARGEST_BYTES, follow: true })
  } catch (cause) {
    throw new ToolwrightError("INVALID_CONFIGURATION", `The agent in ${path} cannot be read: ${messageOf(cause)}`, {
      cause,
    })
  }
  return { path, name: basename(path).replace(ENDING, ""), text: new TextDecoder().decode(found ?? new Uint8Array()) }
}
