import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { loadConfiguration } from "./load.ts"

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "key-"))
  return () => rmSync(cwd, { recursive: true, force: true })
})

const OPENAI = "https://api.openai.com/v1"
const [theirs, mine, files] = ["openai-key", "toolwright-key", "files-key"]

interface Case {
  env?: Record<string, string>
  flags?: Record<string, string>
  file?: { baseUrl?: string; apiKey?: string; apiKeyEnv?: string }
  /** The key that is sent; none where it is left out. */
  sent?: string
  notice?: string
}

test.each<[string, Case]>([
  ["OpenAI's to OpenAI", { env: { OPENAI_API_KEY: theirs }, flags: { "base-url": OPENAI }, sent: theirs }],
  [
    "OpenAI's where OpenAI's address says",
    { env: { OPENAI_API_KEY: theirs, OPENAI_BASE_URL: "http://a/v1" }, sent: theirs },
  ],
  [
    "OpenAI's not to the address of a flag",
    {
      env: { OPENAI_API_KEY: theirs },
      flags: { "base-url": "http://a/v1" },
      notice: "OPENAI_API_KEY is not sent to http://a",
    },
  ],
  [
    "OpenAI's not to a host that only begins like it",
    { env: { OPENAI_API_KEY: theirs }, flags: { "base-url": "https://api.openai.com.evil/v1" }, notice: "not sent" },
  ],
  [
    "OpenAI's not to a host behind its name",
    { env: { OPENAI_API_KEY: theirs }, flags: { "base-url": "https://api.openai.com@evil/v1" }, notice: "not sent" },
  ],
  [
    "OpenAI's not in clear",
    { env: { OPENAI_API_KEY: theirs }, flags: { "base-url": "http://api.openai.com/v1" }, notice: "not sent" },
  ],
  [
    "OpenAI's not to a trusted file's address",
    { env: { OPENAI_API_KEY: theirs }, file: { baseUrl: "http://a/v1" }, notice: "not sent" },
  ],
  [
    "OpenAI's not to Toolwright's address",
    { env: { OPENAI_API_KEY: theirs, TOOLWRIGHT_BASE_URL: "http://a/v1" }, notice: "not sent" },
  ],
  [
    "OpenAI's wherever the user says so by name",
    {
      env: { OPENAI_API_KEY: theirs },
      flags: { "base-url": "http://a/v1", "api-key-env": "OPENAI_API_KEY" },
      sent: theirs,
    },
  ],
  [
    "OpenAI's where a trusted file says so by name",
    { env: { OPENAI_API_KEY: theirs }, file: { baseUrl: "http://a/v1", apiKeyEnv: "OPENAI_API_KEY" }, sent: theirs },
  ],
  ["ours to its own address", { env: { TOOLWRIGHT_API_KEY: mine, TOOLWRIGHT_BASE_URL: "http://a/v1" }, sent: mine }],
  [
    "ours to another path there",
    {
      env: { TOOLWRIGHT_API_KEY: mine, TOOLWRIGHT_BASE_URL: "http://a/v1" },
      flags: { "base-url": "http://a/v2" },
      sent: mine,
    },
  ],
  [
    "ours not to a flag's address where it has one",
    {
      env: { TOOLWRIGHT_API_KEY: mine, TOOLWRIGHT_BASE_URL: "http://a/v1" },
      flags: { "base-url": "http://b/v1" },
      notice: "TOOLWRIGHT_API_KEY is not sent to http://b",
    },
  ],
  [
    "ours to a flag's address where it has none",
    { env: { TOOLWRIGHT_API_KEY: mine }, flags: { "base-url": "http://b/v1" }, sent: mine },
  ],
  [
    "ours to a trusted file's address",
    { env: { TOOLWRIGHT_API_KEY: mine }, file: { baseUrl: "http://c/v1" }, sent: mine },
  ],
  [
    "a file's to the file's address, whatever else is set",
    { env: { OPENAI_API_KEY: theirs }, file: { baseUrl: "http://c/v1", apiKey: files }, sent: files },
  ],
  [
    "a file's not to a flag's address",
    {
      flags: { "base-url": "http://b/v1" },
      file: { baseUrl: "http://c/v1", apiKey: files },
      notice: "not sent to http://b",
    },
  ],
  [
    "the one that fits, of several",
    {
      env: { OPENAI_API_KEY: theirs, TOOLWRIGHT_API_KEY: mine, TOOLWRIGHT_BASE_URL: "http://a/v1" },
      flags: { "base-url": OPENAI },
      sent: theirs,
    },
  ],
  [
    "none where the named variable is empty",
    {
      env: { OPENAI_API_KEY: theirs },
      flags: { "base-url": OPENAI, "api-key-env": "MINE" },
      notice: "MINE is not set",
    },
  ],
])("%s", async (_name, { env = {}, flags = {}, file, sent, notice }) => {
  if (file !== undefined) writeFileSync(join(cwd, "toolwright.yaml"), JSON.stringify({ model: { name: "m", ...file } }))
  const { configuration, notices } = await loadConfiguration({ cwd, env, flags, trust: true })
  expect(configuration.model.apiKey).toBe(sent)
  expect(notices).toEqual(notice === undefined ? [] : [expect.stringContaining(notice)])
})

test("no file that is not trusted gets a key, or gives one", async () => {
  const env = { OPENAI_API_KEY: theirs, TOOLWRIGHT_API_KEY: mine, XDG_STATE_HOME: join(cwd, "state") }
  writeFileSync(join(cwd, "toolwright.yaml"), JSON.stringify({ model: { baseUrl: "http://evil/v1", apiKey: files } }))
  const { configuration } = await loadConfiguration({ cwd, env, flags: { "base-url": "http://mine/v1" } })
  expect(configuration.model).toMatchObject({ baseUrl: "http://mine/v1", apiKey: mine })
})
