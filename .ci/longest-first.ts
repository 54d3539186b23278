import { relative, sep } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * The files that take longest, longest first; most wait for programs. Begun first and beside each other, their waiting
 * is filled by the short files after them; begun late, they would be waited for at the end.
 */
export const LONGEST: readonly string[] = [
  "packages/runtime/src/scenarios/hostile.test.ts",
  "packages/tools/src/git/hostile.test.ts",
  "packages/runtime/src/scenarios/pychess.test.ts",
  ".ci/house/commands.test.ts",
  "packages/testing/src/crash/crash.test.ts",
  "packages/cli/src/commands/ui-panes.test.ts",
  "packages/cli/src/commands/ui.test.ts",
  "packages/tools/src/bash/spellings.test.ts",
  "packages/cli/src/commands/ui-journeys.test.ts",
  "packages/cli/src/scenarios/tasks.test.ts",
  "packages/cli/src/service/services.test.ts",
  "packages/cli/src/hostile-folders.test.ts",
  "packages/runtime/src/tasks/too-late.test.ts",
  "packages/mcp/src/import/hostile-http.test.ts",
  "packages/tools/src/undo.test.ts",
  "packages/cli/src/commands/own-tools.test.ts",
  "packages/cli/src/commands/trust.test.ts",
  "packages/cli/src/commands/init.test.ts",
  "packages/tools/src/bash/planted.test.ts",
  "packages/cli/src/commands/ui-tokens.test.ts",
  ".ci/clients/pages.test.ts",
  "packages/cli/src/commands/run-pocket.test.ts",
  "packages/testing/src/example.test.ts",
  ".ci/house/attacks.test.ts",
  "packages/cli/src/commands/serve.test.ts",
  "packages/cli/src/commands/ui-hostile.test.ts",
  ".ci/house/fuzz.test.ts",
  "packages/server/src/gateway/families.test.ts",
  "packages/tools-web/src/webscrape.test.ts",
  "packages/server/src/gateway/every-wire.test.ts",
  "packages/cli/src/commands/mcp.test.ts",
  "packages/toolformat/src/long.test.ts",
  "packages/cli/src/commands/demo.test.ts",
  "packages/tools/src/bash/kept-history.test.ts",
  "packages/cli/src/commands/run.test.ts",
  "packages/cli/src/commands/common-options.test.ts",
  "packages/cli/src/commands/trust-source.test.ts",
  "packages/tools-database/src/migrate.test.ts",
  "packages/cli/src/commands/ui-evaluations.test.ts",
  "packages/cli/src/commands/resume.test.ts",
  "packages/runtime/src/scenarios/pocket.test.ts",
  "packages/backends/src/llama/families.test.ts",
]

/** Rooms whose tests start programs, which costs more the more memory a process has by then: early, it has least. */
const STARTING = ["tools", "host", "testing", "runtime", "mcp", "store", "cli"].map((room) => `packages/${room}/`)

/** The rooms are most of it, and what remains at the end is short. */
const PROJECTS: readonly string[] = ["console", "apart", "rooms"]

/**
 * The longest files first, those that start programs next, then the usual order. The files of a project stand together:
 * a process serves one project, and where the next file is of another one it ends and another begins.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longest = new Map(LONGEST.map((path, place) => [path, place]))
    const placeOf = ({ moduleId, project }: TestSpecification): [number, number] => {
      const path = relative(this.ctx.config.root, moduleId).replaceAll(sep, "/")
      const long = longest.get(path)
      return [
        PROJECTS.indexOf(project.name),
        long ?? LONGEST.length + (STARTING.some((room) => path.startsWith(room)) ? 0 : 1),
      ]
    }
    const placed = (await super.sort(files)).map((file) => ({ file, place: placeOf(file) }))
    return placed.toSorted((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1]).map(({ file }) => file)
  }
}
