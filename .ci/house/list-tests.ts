/**
 * The tests of files by name, as JSON: those too that this machine would leave out. What `vitest list` shows depends on
 * the programs that are installed, on the system and on the environment, and a page made from it would too.
 */
import { createVitest } from "vitest/node"

const conditions = ["toolwright-source"]
/** As in the rooms themselves: Node loads the files, and not Vite, which transforms each first. */
const byNode = {
  execArgv: conditions.map((each) => `--conditions=${each}`),
  experimental: { viteModuleRunner: false, nodeLoader: false },
}
const [, , ...places] = process.argv
/** All of them in one project, whatever room they are of: modules that several rooms load are loaded once. */
const include = places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`))
const vitest = await createVitest(
  { config: false, watch: false, run: true, isolate: false, maxWorkers: 1, include, ...byNode },
  { resolve: { conditions }, ssr: { resolve: { conditions } } },
)
const { testModules, unhandledErrors } = await vitest.collect([], { staticParse: false })
const errors = [...unhandledErrors, ...testModules.flatMap((one) => one.errors())]
const tests = testModules.flatMap((one) =>
  [...one.children.allTests()].map(({ fullName }) => ({ name: fullName, file: one.moduleId })),
)
await vitest.close()
for (const error of errors) console.error(error)
process.exitCode = errors.length === 0 ? 0 : 1
if (errors.length === 0) process.stdout.write(JSON.stringify(tests))
