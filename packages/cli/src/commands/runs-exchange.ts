import { readFileSync, statSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { runInPage, runAsPage, consoleFiles } from "@toolwright/console"
import { exportedRun, importRun } from "@toolwright/server"
import type { RunLog } from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"

const LARGEST = 1 << 30

/** Writes a run into a file. @returns where it lies */
export async function writeExport(
  log: RunLog,
  id: string,
  { cwd, to, html, log: say }: { cwd: string; to?: string | undefined; html: boolean; log: (line: string) => void },
): Promise<string> {
  const run = await exportedRun(log, id)
  const file = resolve(cwd, to ?? `${run.run.id}.${html ? "html" : "json"}`)
  const text = html ? await runAsPage(consoleFiles({ log: say }), run) : `${JSON.stringify(run)}\n`
  writeFileSync(file, text)
  return file
}

/** Takes a run out of a file into the log: see `importRun`. @returns its id */
export async function importFile(log: RunLog, path: string): Promise<string> {
  const found = statSync(path, { throwIfNoEntry: false })
  // A pipe or a device would be waited for, or read without end.
  if (found === undefined || !found.isFile()) {
    throw new ToolwrightError(
      "RUN_UNREADABLE",
      found === undefined ? `There is no file ${path}.` : `${path} is no regular file.`,
      { hint: "Name a file that 'toolwright runs export' wrote." },
    )
  }
  const { size } = found
  if (size > LARGEST)
    throw new ToolwrightError("RUN_UNREADABLE", `${path} has ${size} bytes, and at most ${LARGEST} are read.`)
  const text = readFileSync(path, "utf8")
  try {
    return await importRun(log, text.trimStart().startsWith("{") ? parsed(text) : runInPage(text))
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "RUN_UNREADABLE") throw thrown
    const { message, hint } = thrown
    throw new ToolwrightError("RUN_UNREADABLE", `${path}: ${message}`, hint === undefined ? {} : { hint })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
