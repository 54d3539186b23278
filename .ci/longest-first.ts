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

/** The usual order, room by room, after the longest files of all rooms. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(LONGEST.map((path, place) => [path, place]))
    const placeOf = ({ moduleId }: TestSpecification): number =>
      places.get(relative(this.ctx.config.root, moduleId).replaceAll(sep, "/")) ?? LONGEST.length
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
