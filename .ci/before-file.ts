import { giveOwnState } from "./own-state.ts"
import "./patience.ts"
import { trySameInputs } from "./same-trials.ts"

/**
 * Before each file of tests. This module alone is loaded anew for each of them, and compiled; those that it names are
 * loaded once for all files of a process.
 */
giveOwnState()
await trySameInputs()
