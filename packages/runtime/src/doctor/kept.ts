import { createHash } from "node:crypto"
import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeStateFolder, readStateFile, writeStateFile } from "@toolwright/host/state-files"
import { userStateFolder } from "../workspace/state-folder.ts"
import type { Examination } from "./examination.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Keeps what was found out, in the user's own state folder, by server and model. */
export function keepExamination(env: Environment, found: Examination): string {
  const folder = userStateFolder(env)
  mkdirSync(dirname(folder), { recursive: true })
  makeStateFolder(dirname(folder), "toolwright")
  const path = pathOf(env, found.baseUrl, found.model)
  writeStateFile(path, `${JSON.stringify(found, null, 2)}\n`)
  return path
}

/** What was found out of a model earlier; undefined where nobody asked. */
export function keptExamination(env: Environment, baseUrl: string, model: string): Examination | undefined {
  try {
    const text = readStateFile(pathOf(env, baseUrl, model))?.toString("utf8")
    const found = text === undefined ? undefined : (JSON.parse(text) as Examination)
    return found?.baseUrl === baseUrl && found.model === model ? found : undefined
  } catch {
    // What is damaged is found out anew.
    return undefined
  }
}

function pathOf(env: Environment, baseUrl: string, model: string): string {
  const id = createHash("sha256").update(`${baseUrl}\n${model}`).digest("hex").slice(0, 16)
  return join(userStateFolder(env), `doctor-${id}.json`)
}
