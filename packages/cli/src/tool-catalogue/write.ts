/** Writes the catalogue of the built-in tools: `npm run catalogue -w packages/cli`, after a tool has changed. */
import { writeFileSync } from "node:fs"
import { currentCatalogue } from "./current.ts"

writeFileSync(new URL("catalogue.json", import.meta.url), `${JSON.stringify(await currentCatalogue(), null, 2)}\n`)
