/** `npm run build -w @toolwright/console`: the page that a published package carries. */
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { BUILT, buildPage } from "./build.ts"

mkdirSync(dirname(BUILT), { recursive: true })
await buildPage(BUILT)
