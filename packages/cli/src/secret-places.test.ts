import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { afterAll, describe, expect, test } from "vitest"
import { here, startHere } from "./testing/run-here.ts"

const ODD = `p"w<d>&1/two words'x`
const LINES = "first-of-the-lines-1\nsecond-of-the-lines-2"
const CONFIGURED = "configured-7-value"
const ENV = { DEPLOY_TOKEN: "correct-horse-7-battery", SECRET_KEY_BASE: ODD.replaceAll(" ", "_"), SIGNING_KEY: LINES }
const PLAIN = ENV.DEPLOY_TOKEN
const RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

/** Secrets as they stand in a text, each with what of it must not be shown. */
const FORMS: Readonly<Record<string, readonly [text: string, secret?: string]>> = {
  github: [`ghp_${RANDOM.slice(0, 36)}`],
  githubFine: [`github_pat_${RANDOM}`],
  gitlab: [`glpat-${RANDOM.slice(2, 24)}`],
  aws: ["AKIAQWERTYUIOPASDFGH"],
  awsSecret: [`aws_secret_access_key = ${RANDOM}`, RANDOM],
  openai: [`sk-proj-${RANDOM.slice(4, 34)}`],
  anthropic: [`sk-ant-${RANDOM.slice(6, 36)}`],
  slack: ["xoxb-123456789012-abcdefghij"],
  stripe: [`whsec_${RANDOM.slice(8)}`],
  google: [`AIza${RANDOM.slice(0, 35)}`],
  jwt: [`eyJ${RANDOM.slice(0, 20)}.eyJ${RANDOM.slice(3, 23)}.${RANDOM.slice(7, 30)}`],
  pem: [
    `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq7\n".repeat(4)}-----END PRIVATE KEY-----`,
    "MIIEvQIBADANBgkq7",
  ],
  database: ["postgres://me:hunt-er22@db.example/x", "hunt-er22"],
  databaseAlone: ["redis://:hunt-er33@cache.example:6379", "hunt-er33"],
  dsn: ["Server=db;User Id=me;Password=hunt-er44;", "hunt-er44"],
  header: ["Authorization: Bearer short-token-5", "short-token-5"],
  headerQuoted: [`{"Authorization": "Basic bWU6aHVudGVy"}`, "bWU6aHVudGVy"],
  parameter: ["https://api.example/x?access_token=a1b2c3d4e5f6", "a1b2c3d4e5f6"],
  environment: [PLAIN],
  environmentBase64: [Buffer.from(PLAIN).toString("base64")],
  environmentInBase64: [Buffer.from(`me:${PLAIN}`).toString("base64")],
  environmentHex: [Buffer.from(PLAIN).toString("hex")],
  environmentOdd: [ENV.SECRET_KEY_BASE],
  environmentUrl: [encodeURIComponent(ENV.SECRET_KEY_BASE)],
  environmentJson: [JSON.stringify(ENV.SECRET_KEY_BASE).slice(1, -1)],
  environmentLine: [LINES.split("\n")[1]!],
  configured: [CONFIGURED],
}
const ALL = Object.entries(FORMS).map(([name, [text]]) => `${name} ${text}`)
const ONE_LINE = ALL.filter((line) => !line.includes("\n"))
/** Names that files may have. */
const NAMES = Object.values(FORMS).flatMap(([text]) => (/^[\w.@-]+$/.test(text) ? [`x-${text}.txt`] : []))

let top: string
let cwd: string
let prompts: string
/** What is said in each place, after everything was done there. */
const places = new Map<string, string>()

const env = () => ({ ...ENV, XDG_STATE_HOME: join(top, "state"), OPENAI_API_KEY: "sk-of-the-user-0123456789" })
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], { cwd, stdio: "pipe" })

const READS: readonly [string, Record<string, unknown>][] = [
  ["read_text_file", { path: "notes/all.txt" }],
  ["read_multiple_files", { paths: ["notes/all.txt", "old.txt"] }],
  ["list_directory", { path: "names" }],
  ["get_directory_tree", { path: "." }],
  ["search", { action: "grep", pattern: "e", path: "notes" }],
  ["search_files", { path: ".", pattern: "x-*" }],
  ["git", { action: "diff" }],
  ["git", { action: "log" }],
  ["git", { action: "status" }],
  ["get_local_git_changes_info", {}],
  ["bash", { command: "cat notes/all.txt; ls names; git diff; git log; env; cat notes/all.txt >&2; exit 3" }],
]

afterAll(() => rmSync(top, { recursive: true, force: true }))

const said = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await here([...args, "--config", join(top, "settings.yaml")], { cwd, env: env() })
  expect(stderr, args.join(" ")).not.toMatch(/Unknown option|is no command/)
  return stdout + stderr
}

async function callByHand(): Promise<void> {
  for (const [name, args] of READS)
    for (const json of [[], ["--json"]]) {
      const about = `${name} ${String(args.action ?? "")}`.trim()
      places.set(`tools call ${about} ${json.join()}`, await said("tools", "call", name, "--args", text(args), ...json))
    }
}

const text = (value: unknown): string => JSON.stringify(value)

/** A run that is told secrets, meets them in every result, and writes and says them. */
async function run(): Promise<void> {
  const content = ALL.join("\n")
  const calls = [
    ...READS,
    ["write_file", { path: "made.txt", content }] as const,
    ["delete_file", { path: `names/${NAMES[0]}` }] as const,
    ["no_such_tool", { [FORMS.slack![0]]: content }] as const,
  ].map(([name, args]) => ({ reply: { calls: [{ name, arguments: args }] } }))
  const backend = createScriptedBackend({
    steps: [...calls, { reply: content, repeat: "always" as const }],
    abilities: { nativeTools: true },
  })
  const server = await serveBackend(backend)
  const model = ["--base-url", server.baseUrl, "--model", "m", "--max-rounds", "40"]
  await said("run", `Use these:\n${content}`, "--agent", "assistant", ...model)
  const results = backend.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool"))
  prompts = text(results)
  places.set("prompts: results", prompts)
  places.set("database", readFileSync(join(cwd, ".toolwright/state.sqlite"), "latin1"))
  // What waits is kept as it was asked: its agent has to be told.
  await said("tasks", "add", `Use these:\n${content}`, "--key", `k-${FORMS.github![0]}`)
  await said("work", "--once", ...model)
  await server.close()
}

async function look(): Promise<void> {
  for (const command of [
    "runs",
    "runs --json",
    "runs --calls",
    "runs --calls --json",
    "runs show latest",
    "runs show latest --full",
    "runs show latest --json",
    "runs export latest",
    "runs export latest --html",
    "undo list --json",
    "undo --dry-run",
    "undo --dry-run --json",
    "tasks",
    "tasks --json",
    "tasks show latest",
    "tasks show latest --json",
    "config",
    "config --json",
  ])
    places.set(command, withFile(await said(...command.split(" "))))
  await said("runs", "files", "latest", "--to", "run-files")
  places.set("runs files", filesIn(join(cwd, "run-files")))
}

/** What a command said; of one that only names the file that it wrote, what stands there. */
const withFile = (words: string): string =>
  words.startsWith(cwd) ? words + readFileSync(words.split("\n")[0]!, "utf8") : words

function filesIn(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const contents = entries.map((entry) => (entry.isFile() ? readFileSync(join(entry.parentPath, entry.name)) : ""))
  return [...entries.map(({ name }) => name), ...contents].join("\n")
}

/** The same calls over REST and MCP, what is shown of the records there, and the server's own log. */
async function serve(): Promise<void> {
  const args = ["serve", "--mcp", "--port", "0", "--token", "t0ken-of-tests", "--config", join(top, "settings.yaml")]
  const { stop, until } = startHere(args, { cwd, env: env() })
  const [, url] = await until(/at (http:\/\/127\.0\.0\.1:\d+)\s/)
  const headers = {
    authorization: "Bearer t0ken-of-tests",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  }
  const get = async (path: string) => (await fetch(`${url}${path}`, { headers })).text()
  const post = async (path: string, body: object) =>
    (await fetch(`${url}${path}`, { method: "POST", headers, body: text(body) })).text()
  const listed = JSON.parse(await said("runs", "--json")) as { id?: string; runId?: string }[]
  const runs = listed.map(({ id, runId }) => ({ id: id ?? runId! }))
  for (const [name, given] of READS) {
    const about = `${name} ${String(given.action ?? "")}`.trim()
    places.set(`POST /tools ${about}`, await post(`/tools/${name}`, given))
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }
    places.set(`MCP ${about}`, await post("/mcp", call))
  }
  const paths = ["/runs", "/tasks"]
  for (const path of [...paths, ...runs.slice(0, 2).flatMap(({ id }) => [`/runs/${id}`, `/runs/${id}/events`])])
    places.set(`GET ${path}`, await get(path))
  for (const name of Object.keys(FORMS)) await get(`/runs/${encodeURIComponent(FORMS[name]![0])}`)
  const { stdout, stderr } = await stop()
  places.set("log of the server", stdout + stderr)
}

test("secrets of every form come to all places where something is said", async () => {
  top = mkdtempSync(join(tmpdir(), "secret-places-"))
  cwd = join(top, "work")
  execFileSync("mkdir", ["-p", join(cwd, "notes"), join(cwd, "names")])
  const put = (name: string, text: string) => writeFileSync(join(cwd, name), text)
  git("init", "--quiet")
  put("old.txt", ALL.join("\n"))
  put("diff.txt", "nothing\n")
  git("add", ".")
  git("commit", "--quiet", "--message", ONE_LINE.join("\n"))
  put("diff.txt", ALL.join("\n"))
  put("notes/all.txt", `${ALL.join("\n")}\n`)
  for (const name of NAMES) put(`names/${name}`, "x\n")
  writeFileSync(
    join(top, "settings.yaml"),
    JSON.stringify({ mcp: { servers: { x: { url: "http://127.0.0.1:9/", headers: { "X-Key": CONFIGURED } } } } }),
  )
  await callByHand()
  await run()
  await look()
  await serve()
  expect(places.size).toBeGreaterThan(50)
}, 300_000)

describe("no place holds a secret of any form", () => {
  let held = 0
  afterAll(() => {
    console.log(`secrets: ${held} combinations (${Object.keys(FORMS).length} forms × ${places.size} places)`)
    expect(held).toBeGreaterThanOrEqual(300)
  })

  test.each(Object.entries(FORMS))("%s", (_, [whole, secret = whole]) => {
    const found = [...places].filter(([, shown]) => spellings(secret).some((spelt) => shown.includes(spelt)))
    expect(found.map(([place, shown]) => [place, around(shown, secret)])).toEqual([])
    held += places.size
  })

  test("and they are where each of them would be shown", () => {
    // The configuration shows the last signs of some.
    const hides = (words: string): boolean => words.includes("[secret]") || words.includes("••••alue")
    expect([...places].filter(([, words]) => !hides(words)).map(([name]) => name)).toEqual([])
    expect(prompts.split("[secret]").length).toBeGreaterThan(5 * Object.keys(FORMS).length)
  })
})

const spellings = (secret: string): string[] => [secret, text(secret).slice(1, -1), text(text(secret)).slice(3, -3)]

const around = (shown: string, secret: string): string => {
  const at = Math.max(...spellings(secret).map((spelt) => shown.indexOf(spelt)))
  return shown.slice(Math.max(0, at - 80), at + secret.length + 20)
}
