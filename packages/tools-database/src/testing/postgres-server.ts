import { execFileSync, spawn, type ChildProcess } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { freePort } from "../../../host/src/testing/free-port.ts"

/** A PostgreSQL server of this test's own, on loopback. */
export interface PostgresServer extends AsyncDisposable {
  /** DSN of a new, empty database. The password has characters that URLs must escape. */
  createDatabase(): string
  readonly password: string
  /** Kills the server and all its processes, as a machine that loses its power would, and starts it again. */
  crash(): Promise<void>
}

const PASSWORD = "p@ss/w:rd%canary"
/** Runs the server until standard input ends, which it also does when the test's process is killed. */
const GUARD = '"$@" & pid=$!; cat >/dev/null; kill -INT $pid; wait $pid'
const INSTALLED = "/usr/lib/postgresql"

/** The newest installed server's programs, or `undefined`. */
export function postgresBinaries(): string | undefined {
  if (!existsSync(INSTALLED)) return undefined
  const versions = readdirSync(INSTALLED).filter((version) => existsSync(join(INSTALLED, version, "bin", "initdb")))
  const newest = versions.sort((one, other) => Number(other) - Number(one))[0]
  return newest === undefined ? undefined : join(INSTALLED, newest, "bin")
}

/**
 * A cluster without databases, which servers start from a copy of: to make one takes longer than most tests. It is made
 * once for each version of the server and each user, and lies where `npm ci` clears it away.
 */
function emptyCluster(binaries: string): string {
  const user = unprivilegedUser()
  const cache = join(import.meta.dirname, "../../../../node_modules/.cache")
  const made = join(cache, `postgres${binaries.replaceAll("/", "-")}-${user.uid ?? userInfo().uid}`)
  if (existsSync(made)) return made
  // The server's user may not be let into the folder of the repository: it is made elsewhere, and moved whole.
  const folder = mkdtempSync(join(tmpdir(), "postgres-"))
  try {
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number)
    const passwordFile = join(folder, "password")
    writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o644 })
    const [data, settings] = [join(folder, "data"), ["-U", "tester", "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"]]
    execFileSync(join(binaries, "initdb"), ["-D", data, `--pwfile=${passwordFile}`, ...settings], {
      ...user,
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
      stdio: ["pipe", "pipe", "pipe"],
    })
    mkdirSync(cache, { recursive: true })
    const copy = mkdtempSync(join(cache, "postgres-"))
    execFileSync("cp", ["-a", data, join(copy, "data")])
    moveUnlessThere(join(copy, "data"), made)
    rmSync(copy, { recursive: true, force: true })
    return made
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Another file of tests may have made the same one meanwhile. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(to)) throw error
  }
}

/**
 * Starts a server in a temporary folder; as another user where this process is root, which PostgreSQL refuses to run
 * as.
 */
export async function startPostgres(binaries: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "postgres-"))
  const user = unprivilegedUser()
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number)
  chmodSync(folder, 0o700)
  const data = join(folder, "data")
  const run = (program: string, args: string[], env: Record<string, string> = {}) =>
    execFileSync(join(binaries, program), args, {
      ...user,
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C", ...env },
      stdio: ["pipe", "pipe", "pipe"],
    })
  const origin = emptyCluster(binaries)
  // As another user's where this is root, and with the permissions that the server asks for.
  execFileSync("cp", ["-a", origin, data])
  const port = await freePort()
  const settings = [`listen_addresses=127.0.0.1`, `unix_socket_directories=${folder}`, "fsync=off"].flatMap(
    (setting) => ["-c", setting],
  )
  const start = (): ChildProcess =>
    spawn("sh", ["-c", GUARD, "sh", join(binaries, "postgres"), "-D", data, "-p", String(port), ...settings], {
      ...user,
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    })
  let server = start()
  const stopped = async (): Promise<void> => {
    const ended = new Promise((done) => server.once("exit", done))
    server.stdin?.end()
    await ended
  }
  const psql = (sql: string) =>
    run("psql", ["-h", "127.0.0.1", "-p", String(port), "-U", "tester", "-d", "postgres", "-qc", sql], {
      PGPASSWORD: PASSWORD,
    })
  await ready(() => psql("SELECT 1"), server)
  let count = 0
  return {
    password: PASSWORD,
    createDatabase() {
      const name = `test_${++count}`
      psql(`CREATE DATABASE ${name}`)
      return `postgres://tester:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`
    },
    async crash() {
      killAllIn(data)
      await stopped()
      server = start()
      await ready(() => psql("SELECT 1"), server)
    },
    async [Symbol.asyncDispose]() {
      await stopped()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Kills every process that works in a folder. */
function killAllIn(folder: string): void {
  for (const pid of readdirSync("/proc")) {
    try {
      if (/^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder) process.kill(Number(pid), "SIGKILL")
    } catch {
      // It has ended, or is somebody else's.
    }
  }
}

function unprivilegedUser(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {}
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }))
      return { uid: id("-u"), gid: id("-g") }
    } catch {
      continue
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

async function ready(check: () => unknown, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt++) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`)
    try {
      check()
      return
    } catch {
      await new Promise((done) => setTimeout(done, 100))
    }
  }
  throw new Error("PostgreSQL did not start within two minutes")
}
