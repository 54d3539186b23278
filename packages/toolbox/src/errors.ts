/** What everything throws, without anything else of this package: for what has to be quick to load. */
export { messageOf, ToolwrightError } from "./model/errors.ts"
export { nearest } from "./nearest.ts"
