import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from "node:child_process"
import { randomUUID } from "node:crypto"
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { ALIVE, STATES } from "../../../../.ci/states-of-run.ts"
import { freePort } from "../../../host/src/testing/free-port.ts"

/** A PostgreSQL server of this test's own, on loopback. */
export interface PostgresServer extends AsyncDisposable {
  /** DSN of a new, empty database. The password has characters that URLs must escape. */
  createDatabase(): string
  /** Says statements to a database of this server, each for itself. */
  say(address: string, ...statements: readonly string[]): void
  readonly password: string
  /** Kills the server and all its processes, as a machine that loses its power would, and starts it again. */
  crash(): Promise<void>
}

const PASSWORD = "p@ss/w:rd%canary"
/** Runs the server until standard input ends, which it also does when the test's process is killed. */
const GUARD = '"$@" & pid=$!; cat >/dev/null; kill -INT $pid; wait $pid'
/** The same, and takes the folder of the server away, which nobody else would. */
const LAST_GUARD = `${GUARD}; rm -rf "$0"`
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

interface Prepared {
  folder: string
  data: string
  port: number
  /** The shell's script that runs the server, and how it is to be started. */
  start(guard: string, options: SpawnOptions): ChildProcess
}

/** A folder with an empty cluster; of another user where this process is root, which PostgreSQL refuses to run as. */
async function prepare(binaries: string, settings: readonly string[] = []): Promise<Prepared> {
  const folder = mkdtempSync(join(tmpdir(), "postgres-"))
  const user = unprivilegedUser()
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number)
  chmodSync(folder, 0o700)
  const data = join(folder, "data")
  // As another user's where this is root, and with the permissions that the server asks for.
  execFileSync("cp", ["-a", emptyCluster(binaries), data])
  const port = await freePort()
  const all = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, "fsync=off", ...settings]
  const flags = ["-D", data, "-p", String(port), ...all.flatMap((setting) => ["-c", setting])]
  const start = (guard: string, options: SpawnOptions): ChildProcess =>
    spawn("sh", ["-c", guard, folder, join(binaries, "postgres"), ...flags], {
      ...user,
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
      ...options,
    })
  return { folder, data, port, start }
}

/** Says statements to a database, each for itself. */
function sayTo(binaries: string, address: string, ...statements: readonly string[]): void {
  execFileSync(join(binaries, "psql"), [address, "-q", ...statements.flatMap((statement) => ["-c", statement])], {
    env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    stdio: ["pipe", "pipe", "pipe"],
  })
}

/** Says statements to a server, each for itself. */
function say(binaries: string, port: number, ...statements: readonly string[]): void {
  sayTo(binaries, addressOf(port, "postgres"), ...statements)
}

const addressOf = (port: number, name: string): string =>
  `postgres://tester:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`

/** Starts a server of this test's own in a temporary folder. */
export async function startPostgres(binaries: string): Promise<PostgresServer> {
  const { folder, data, port, start } = await prepare(binaries)
  const begin = (): ChildProcess => start(GUARD, { stdio: ["pipe", "ignore", "ignore"] })
  let server = begin()
  const stopped = async (): Promise<void> => {
    const ended = new Promise((done) => server.once("exit", done))
    server.stdin?.end()
    await ended
  }
  await ready(() => say(binaries, port, "SELECT 1"), server)
  let count = 0
  return {
    password: PASSWORD,
    createDatabase() {
      const name = `test_${++count}`
      say(binaries, port, `CREATE DATABASE ${name}`)
      return addressOf(port, name)
    },
    say: (address, ...statements) => sayTo(binaries, address, ...statements),
    async crash() {
      killAllIn(data)
      await stopped()
      server = begin()
      await ready(() => say(binaries, port, "SELECT 1"), server)
    },
    async [Symbol.asyncDispose]() {
      await stopped()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * The one server of a run of tests, for databases that need no server of their own: whoever asks first starts it, and
 * it ends with the run.
 *
 * @returns databases on it, which are taken away when they are disposed of
 */
export async function sharedPostgres(binaries: string): Promise<Omit<PostgresServer, "crash">> {
  const run = process.env[STATES]
  if (run === undefined) return startPostgres(binaries)
  const port = await portOfRun(binaries, run)
  const names: string[] = []
  return {
    password: PASSWORD,
    createDatabase() {
      const name = `test_${randomUUID().replaceAll("-", "_")}`
      say(binaries, port, `CREATE DATABASE ${name}`)
      names.push(name)
      return addressOf(port, name)
    },
    say: (address, ...statements) => sayTo(binaries, address, ...statements),
    async [Symbol.asyncDispose]() {
      const dropped = names.splice(0).map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      if (dropped.length > 0) say(binaries, port, ...dropped)
    },
  }
}

/** Where that server listens; started by the first of all processes that asks. */
async function portOfRun(binaries: string, run: string): Promise<number> {
  const place = join(run, "postgres")
  const told = join(place, "port")
  try {
    mkdirSync(place)
  } catch {
    return heardOf(told)
  }
  // All files of tests at once have more connections than the hundred that a server grants.
  const { port, start } = await prepare(binaries, ["max_connections=400"])
  const alive = openSync(join(run, ALIVE), "r")
  const server = start(LAST_GUARD, { stdio: [alive, "ignore", "ignore"], detached: true })
  closeSync(alive)
  server.unref()
  await ready(() => say(binaries, port, "SELECT 1"), server)
  writeFileSync(`${told}.new`, String(port))
  renameSync(`${told}.new`, told)
  return port
}

async function heardOf(told: string): Promise<number> {
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (existsSync(told)) return Number(readFileSync(told, "utf8"))
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error("Whoever started PostgreSQL for this run of tests has not told within two minutes that it is there")
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
