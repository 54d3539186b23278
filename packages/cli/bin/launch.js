// Starts the command: from its sources where they are (a checkout), else from the built files (an installed package).
"use strict"

const { existsSync } = require("node:fs")
const module_ = require("node:module")
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")

module_.enableCompileCache()

const source = join(__dirname, "..", "src", "main.ts")
const fromSource = existsSync(source)
// Where our sources are: what they import of each other is there, is no link, and is TypeScript. Looking for it costs as
// much as reading it.
const ours = pathToFileURL(join(__dirname, "..", "..")).href + "/"
const here = pathToFileURL(__filename).href
// The same of the built files, which are modules all.
const built = pathToFileURL(join(__dirname, "..", "dist")).href + "/"
const isBuilt = (url) =>
  url !== undefined && (url.startsWith(built) || /\/node_modules\/@toolwright\/[^/]+\/dist\//.test(url))

// A user's tools import "toolwright" too: from the sources where this runs from them, and where their folder has no
// such package, from the one that runs.
if (module_.registerHooks !== undefined)
  module_.registerHooks({
    resolve(specifier, context, next) {
      if (/^\.\.?\/.*\.ts$/.test(specifier) && context.parentURL.startsWith(ours))
        return { url: new URL(specifier, context.parentURL).href, format: "module-typescript", shortCircuit: true }
      if (/^\.\.?\/.*\.js$/.test(specifier) && isBuilt(context.parentURL))
        return { url: new URL(specifier, context.parentURL).href, format: "module", shortCircuit: true }
      if (specifier.startsWith("node:")) return { url: specifier, format: "builtin", shortCircuit: true }
      if (!/^(?:@toolwright\/|toolwright(?:\/|$))/.test(specifier)) return next(specifier, context)
      const found = fromSource ? { ...context, conditions: [...context.conditions, "toolwright-source"] } : context
      try {
        return next(specifier, found)
      } catch (error) {
        if (error.code !== "ERR_MODULE_NOT_FOUND") throw error
        return next(specifier, { ...found, parentURL: here })
      }
    },
  })

import(pathToFileURL(fromSource ? source : join(__dirname, "..", "dist", "main.js")).href).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
