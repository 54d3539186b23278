import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Finished } from "./run-cli.ts"
import { here } from "./run-here.ts"

export const SECRET = "what-the-file-outside-says"
export const KEY = "sk-of-the-user-0123456789"
export const WHO = ["-c", "user.name=Test", "-c", "user.email=test@localhost"]

/** A folder from elsewhere beside what it must not come to, and somebody who listens. */
export interface Place {
  /** The folder that was cloned or unpacked, where commands are typed. */
  readonly cwd: string
  /** The user's own, beside it. */
  readonly outside: string
  /** Requests that came to the listener's address. */
  readonly heard: string[]
  readonly address: string
  /** Variables of whoever types the commands. */
  readonly env: Readonly<Record<string, string>>
  put(files: Readonly<Record<string, string>>): void
  git(...args: string[]): void
  run(args: readonly string[]): Promise<Finished>
}

/** Commands of processes that are still there, and work in the place of a folder. */
export function leftIn({ cwd }: Place): string[] {
  if (process.platform !== "linux") return []
  return readdirSync("/proc").flatMap((id) => {
    try {
      const isThere = /^\d+$/.test(id) && readlinkSync(`/proc/${id}/cwd`).startsWith(dirname(cwd))
      return isThere ? [readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ")] : []
    } catch {
      // Processes come and go, and not all of them are ours.
      return []
    }
  })
}

/** Makes the place of a folder, and takes everything away afterwards. */
export async function inPlace(
  folder: { lay(place: Place): unknown },
  act: (place: Place) => Promise<void>,
): Promise<void> {
  const top = mkdtempSync(join(tmpdir(), "hostile-"))
  const [cwd, outside, state] = ["cloned", "outside", "state"].map((name) => join(top, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [cwd, outside, state]) mkdirSync(path)
  writeFileSync(join(outside, "secret.txt"), `${SECRET}\n`)
  const heardOf: string[] = []
  const server = createServer((request, response) => {
    heardOf.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`)
    response.writeHead(500).end("{}")
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const env = { XDG_STATE_HOME: state, OPENAI_API_KEY: KEY }
  const place: Place = {
    cwd,
    outside,
    env,
    heard: heardOf,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    put(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(cwd, name)), { recursive: true })
        writeFileSync(join(cwd, name), text)
      }
    },
    git: (...args) => void execFileSync("git", [...WHO, ...args], { cwd, stdio: "pipe" }),
    run: (args) => here(args, { cwd, env }),
  }
  try {
    place.git("init", "--quiet")
    place.put({ "README.md": "# Read me\n", "a.txt": "a\n" })
    place.git("add", ".")
    place.git("commit", "--quiet", "--message=Begin")
    rmSync(join(cwd, "a.txt"))
    await folder.lay(place)
    await act(place)
  } finally {
    server.close()
    rmSync(top, { recursive: true, force: true })
  }
}
