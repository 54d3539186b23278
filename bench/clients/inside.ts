/**
 * Runs inside a network of its own: `node inside.ts <command line> <family> <folder of packages> <folder to work in>`.
 */
import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createOpenAICompatibleBackend } from "@toolwright/backends"
import { createApp, gatewayRoutes, listen } from "@toolwright/server"
import { ToolRegistry } from "@toolwright/toolbox"
import { COMMAND_LINES } from "./command-lines.ts"
import { FAMILIES, serveModel, type Asked, type Reply } from "./model.ts"

const [name, familyName, folder = "", place = ""] = process.argv.slice(2)
const line = COMMAND_LINES.find((one) => one.name === name)!
const family = FAMILIES[familyName as keyof typeof FAMILIES]
const [work, home] = [join(place, "work"), join(place, "home")]
for (const one of [work, home]) mkdirSync(one)

const model = await serveModel(family, reply)
const backend = createOpenAICompatibleBackend({
  baseUrl: model.baseUrl,
  modelName: family.model,
  abilities: { nativeTools: false },
})
const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
const { url } = await listen(app, { port: 0, secured: false })
line.prepare(home, work, url)
const prompt = `Write ${work}/made.txt, then its upper case into ${work}/upper.txt. THE TASK`
const child = spawn(line.command(folder), line.args(prompt), {
  cwd: work,
  env: { PATH: process.env.PATH, HOME: home, IS_SANDBOX: "1", ...line.env(home, url) },
  stdio: ["ignore", "inherit", "inherit"],
})
child.once("close", (code) => process.exit(code ?? 1))

/** What each of them has for files and for commands, the first that is on offer counts. */
function reply(asked: Asked): Reply {
  const { system, text, results } = asked
  const has = (tool: string): boolean => new RegExp(`(## |"name": ?"|<name>)${tool}(\\n|"|<)`).test(system)
  if (!text.includes("THE TASK") || !["Bash", "bash", "exec_command", "run_shell_command"].some(has))
    return { text: "A task" }
  const content = "made by a model\n"
  const first = `${work}/made.txt`
  const second = `tr a-z A-Z < ${first} > ${work}/upper.txt`
  if (results === 0) {
    if (name === "Continue") return { text: family.call("Write", { filepath: first, content }) }
    if (has("write_file")) return { text: family.call("write_file", { file_path: first, content }) }
    if (has("Write")) return { text: family.call("Write", { file_path: first, content }) }
    if (has("write")) return { text: family.call("write", { filePath: first, content }) }
    return { text: family.call("exec_command", { cmd: `echo made by a model > ${first}` }) }
  }
  if (results > 1) return { text: "Both files are written." }
  const described = { command: second, description: "Writes it in upper case" }
  if (has("run_shell_command"))
    return { text: `Now the other.\n${family.call("run_shell_command", { ...described, is_background: false })}` }
  if (has("Bash")) return { text: `Now the other.\n${family.call("Bash", described)}` }
  if (has("bash")) return { text: `Now the other.\n${family.call("bash", described)}` }
  return { text: `Now the other.\n${family.call("exec_command", { cmd: second })}` }
}
