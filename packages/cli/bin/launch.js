// Starts the command: from its sources where they are (a checkout), else from the built files (an installed package).
"use strict"

const { existsSync } = require("node:fs")
const module_ = require("node:module")
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")

module_.enableCompileCache()

const source = join(__dirname, "..", "src", "main.ts")
const fromSource = existsSync(source)
if (fromSource) {
  module_.registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith("@toolwright/")
        ? next(specifier, { ...context, conditions: [...context.conditions, "toolwright-source"] })
        : next(specifier, context),
  })
}

import(pathToFileURL(fromSource ? source : join(__dirname, "..", "dist", "main.js")).href).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
