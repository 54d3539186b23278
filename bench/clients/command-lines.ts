import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** An agent of a command line. */
export interface CommandLine {
  name: string
  wire: string
  package: string
  /** Writes its settings into its home. */
  prepare(home: string, work: string, url: string): void
  command(folder: string): string
  args(prompt: string): string[]
  env(home: string, url: string): Record<string, string>
}

/** What came of it. */
export interface Tried {
  name: string
  wire: string
  version: string
  family: string
  wrong: string
}

const bin = (folder: string, ...path: string[]): string => join(folder, "node_modules", ...path)

export const COMMAND_LINES: readonly CommandLine[] = [
  {
    name: "Claude Code",
    wire: "Messages",
    package: "@anthropic-ai/claude-code",
    prepare: () => {},
    command: (folder) => bin(folder, "@anthropic-ai", `claude-code-linux-${process.arch}`, "claude"),
    args: (prompt) => ["-p", prompt, "--allowedTools", "Write", "Bash", "--output-format", "json"],
    env: (_, url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
  },
  {
    name: "Codex",
    wire: "Responses",
    package: "@openai/codex",
    prepare: (home, _, url) => {
      mkdirSync(join(home, ".codex"))
      const provider = `name = "Toolwright"\nbase_url = "${url}/v1"\nwire_api = "responses"\n`
      const settings = `model = "local"\nmodel_provider = "toolwright"\n[model_providers.toolwright]\n${provider}`
      writeFileSync(join(home, ".codex", "config.toml"), settings)
    },
    command: (folder) => bin(folder, ".bin", "codex"),
    args: (prompt) => ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
    env: (home) => ({ CODEX_HOME: join(home, ".codex") }),
  },
  {
    name: "opencode",
    wire: "Chat",
    package: "opencode-ai",
    prepare: (_, work, url) => {
      const options = { baseURL: `${url}/v1`, apiKey: "none" }
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        name: "Toolwright",
        options,
        models: { local: { name: "local" } },
      }
      const settings = { model: "toolwright/local", small_model: "toolwright/local", autoupdate: false }
      const permission = { edit: "allow", bash: "allow" }
      writeFileSync(
        join(work, "opencode.json"),
        JSON.stringify({ ...settings, permission, provider: { toolwright: provider } }),
      )
    },
    command: (folder) => bin(folder, `opencode-linux-${process.arch}`, "bin", "opencode"),
    args: (prompt) => ["run", prompt],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  },
  {
    name: "Qwen Code",
    wire: "Chat",
    package: "@qwen-code/qwen-code",
    prepare: (home) => {
      mkdirSync(join(home, ".qwen"))
      const settings = { security: { auth: { selectedType: "openai" } }, privacy: { usageStatisticsEnabled: false } }
      writeFileSync(join(home, ".qwen", "settings.json"), JSON.stringify(settings))
    },
    command: (folder) => bin(folder, ".bin", "qwen"),
    args: (prompt) => ["--yolo", "-p", prompt],
    env: (_, url) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "local" }),
  },
  {
    name: "Continue",
    wire: "Chat",
    package: "@continuedev/cli",
    prepare: (home, _, url) => {
      const model =
        `  - name: local\n    provider: openai\n    model: local\n    apiBase: ${url}/v1\n    apiKey: none\n    ` +
        `roles: [chat]\n`
      writeFileSync(join(home, "config.yaml"), `name: own\nversion: 0.0.1\nschema: v1\nmodels:\n${model}`)
    },
    command: (folder) => bin(folder, ".bin", "cn"),
    args: (prompt) => ["--config", "../home/config.yaml", "--auto", "-p", prompt],
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
  },
]

const LONGEST_MS = 120_000

/**
 * Lets it do a task where there is no network but the loopback interface; `inside.ts` serves model and gateway there.
 */
export async function tryCommandLine(line: CommandLine, family: string, folder: string): Promise<Tried> {
  const { version } = JSON.parse(readFileSync(bin(folder, line.package, "package.json"), "utf8")) as { version: string }
  const place = mkdtempSync(join(tmpdir(), "toolwright-clients-"))
  const told = { name: line.name, wire: line.wire, version, family }
  try {
    const said = await inNamespace([line.name, family, folder, place])
    return { ...told, wrong: faultOf(join(place, "work"), said) }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

function faultOf(work: string, said: string): string {
  const expected = { "made.txt": "made by a model", "upper.txt": "MADE BY A MODEL" }
  for (const [name, text] of Object.entries(expected)) {
    const file = join(work, name)
    const found = existsSync(file) ? readFileSync(file, "utf8").trim() : "missing"
    if (found !== text) return `${name}: ${found}; ${said.slice(-600)}`
  }
  return ""
}

function inNamespace(args: readonly string[]): Promise<string> {
  const inside = [process.execPath, "--conditions=toolwright-source", join(import.meta.dirname, "inside.ts"), ...args]
  const script = 'ip link set lo up && exec "$@"'
  const child = spawn("unshare", ["--net", "--map-root-user", "sh", "-c", script, "sh", ...inside], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += String(piece)))
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), LONGEST_MS)
  return new Promise((resolve) => {
    child.once("error", (thrown) => resolve(String(thrown)))
    child.once("close", () => {
      clearTimeout(timer)
      resolve(said)
    })
  })
}
