import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { CLIENTS } from "./.ci/closing-line.ts"
import { COMPILED } from "./.ci/compiled-modules.ts"
import LongestFirst from "./.ci/longest-first.ts"

/** Modules of the sources are compiled once, not at every start of a worker or of a program that a test starts. */
process.env["NODE_COMPILE_CACHE"] ??= COMPILED

/**
 * Files whose tests change what is found out once for a process: each has one of its own, in the project `apart`. All
 * others change nothing of the process that another could see.
 */
const APART = [
  "packages/host/src/sandbox/limits.test.ts",
  "packages/host/src/sandbox/probe.test.ts",
  "packages/tools/src/git/few-programs.test.ts",
  "packages/tools/src/required-sandbox.test.ts",
]

/** The page's tests need what the others' do not. */
const CONSOLE = "packages/console/src/**/*.test.ts"

/** The real clients are large, and their tests are here once `npm run test:clients` has installed them. */
const clients = CLIENTS.installed ? [".ci/clients/*.test.ts"] : []

/** Modules in JSX, or replaced by a test, need Vite to load them; all others Node loads, as it does for users. */
const BY_VITE = new Set(["apart", "console"])

/**
 * The files of a project share its processes, which load what they test once: all rooms and the rules of the house are
 * one, `rooms`; those that need Vite have their own. One room alone is run by its folder: `vitest run packages/toolbox`. The limits are for what hangs: on a busy machine the first test
 * of a file, which loads everything, takes ten times as long.
 */
const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: {
    name,
    include,
    exclude,
    isolate: name === "apart",
    globalSetup: ["temporary-files", "states-of-run", "compiled-modules", "plain-python"].map(
      (name) => new URL(`.ci/${name}.ts`, import.meta.url).pathname,
    ),
    // Plugins that a machine has for pytest, and that no test here needs, take four fifths of each of its starts.
    env: {
      NODE_COMPILE_CACHE: COMPILED,
      PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
      // React as the page has it: what it looks after for developers takes twice the time of a form.
      ...(name === "console" ? { NODE_ENV: "production" } : {}),
    },
    // Where a processor has such keys, V8's bookkeeping of them loses pages when threads with WebAssembly end beside
    // each other, and takes the process along (nodejs/node#64500).
    execArgv: ["--no-memory-protection-keys", "--conditions=toolwright-source"],
    experimental: BY_VITE.has(name) ? {} : { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Of ten thousand tests with real processes, clocks and sockets one may meet what it was not written for. It is
    // tried once more, and named at the end: `test:whole` has no second try.
    retry: process.env["TOOLWRIGHT_WHOLE"] === "1" ? 0 : 1,
    setupFiles: [new URL(".ci/before-file.ts", import.meta.url).pathname],
    expect: { poll: { timeout: 120_000 } },
  },
})

export default defineConfig({
  // Not in the projects: one that says something of its own here gets a server of its own, which transforms every
  // module anew.
  resolve: { conditions: ["toolwright-source"] },
  oxc: { jsx: { development: false } },
  ssr: { resolve: { conditions: ["toolwright-source"] } },
  test: {
    // Many tests wait for programs that they started: two workers more than there are cores keep those busy. Beyond
    // some they are bound by the longest file, and each costs memory and places for programs.
    maxWorkers: Math.min(availableParallelism() + 2, 16),
    // Files in another order, to see whether they need each other's, are asked for by `--sequence.shuffle`.
    sequence: process.argv.some((argument) => argument.startsWith("--sequence.shuffle"))
      ? {}
      : { sequencer: LongestFirst },
    reporters: ["default", new URL(".ci/closing-line.ts", import.meta.url).pathname],
    projects: [
      project("rooms", ["packages/*/src/**/*.test.ts", ".ci/house/**/*.test.ts", ...clients], [...APART, CONSOLE]),
      project("console", [CONSOLE]),
      project("apart", APART),
    ],
  },
})
