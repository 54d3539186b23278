import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { loadConfiguration } from "./load.ts"

async function loaded(file: string, env: Record<string, string> = {}, flags: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "toolwright-address-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  if (file !== "") writeFileSync(join(cwd, "toolwright.yaml"), file)
  const { configuration, waiting } = await loadConfiguration({ cwd, env: { XDG_STATE_HOME: cwd, ...env }, flags })
  const { backend, baseUrl, apiKey } = configuration.model
  return { backend, baseUrl, apiKey, waiting: waiting.map(({ key }) => key) }
}

const keys = { OPENAI_API_KEY: "sk-openai", ANTHROPIC_API_KEY: "sk-ant" }

test.each([
  ["anthropic", {}, "https://api.anthropic.com", "sk-ant"],
  ["anthropic", { ANTHROPIC_BASE_URL: "https://proxy.example" }, "https://proxy.example", "sk-ant"],
  ["anthropic", { OPENAI_BASE_URL: "https://other.example/v1" }, "https://api.anthropic.com", "sk-ant"],
  ["openai-responses", {}, "https://api.openai.com/v1", "sk-openai"],
  ["ollama", { OPENAI_BASE_URL: "https://other.example/v1" }, "http://localhost:11434", undefined],
  ["llama-server", {}, "http://localhost:8080", undefined],
])("%s is asked where it usually is, with the key that belongs there (%o)", async (backend, env, baseUrl, apiKey) => {
  const found = await loaded("", { ...keys, ...env }, { backend })
  expect(found).toEqual({ backend, baseUrl, apiKey, waiting: [] })
})

test("an address that is named is the one", async () => {
  const flags = { backend: "anthropic", "base-url": "http://localhost:1" }
  expect(await loaded("", keys, flags)).toMatchObject({ baseUrl: "http://localhost:1", apiKey: undefined })
})

test.each(["anthropic", "openai-responses"])("a file that was found sends nothing to %s unasked", async (backend) => {
  const found = await loaded(`model:\n  backend: ${backend}\n  name: m\n`, keys)
  expect(found).toEqual({ backend: undefined, baseUrl: undefined, apiKey: "sk-openai", waiting: ["model.backend"] })
})

test("a file that was found may choose a server on this machine", async () => {
  const found = await loaded("model:\n  backend: ollama\n  name: m\n", keys)
  expect(found).toMatchObject({ backend: "ollama", baseUrl: "http://localhost:11434", waiting: [] })
})
