import { createRequire } from "node:module"
import { existsSync } from "node:fs"
import { join } from "node:path"

const folders = createRequire(import.meta.url).resolve.paths("node-llama-cpp") ?? []

/** The engine of llama.cpp, which is installed apart: tests that need it are skipped without. */
export const LLAMA = {
  installed: folders.some((folder) => existsSync(join(folder, "node-llama-cpp/package.json"))),
  command: "npm run clients:install",
}
