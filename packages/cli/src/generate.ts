/** Writes what is generated from the commands and the tools: `npm run generate -w packages/cli`. */
import { writeFileSync } from "node:fs"
import { cliReference } from "./reference.ts"
import { currentCatalogue } from "./tool-catalogue/current.ts"

writeFileSync(
  new URL("tool-catalogue/catalogue.json", import.meta.url),
  `${JSON.stringify(await currentCatalogue(), null, 2)}\n`,
)
writeFileSync(new URL("../../../docs/cli.md", import.meta.url), await cliReference())
