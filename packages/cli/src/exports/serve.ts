/** Serving a toolwright as `toolwright serve` does. */
export { serveToolwright, type Served, type ServeOptions } from "../service/serve-toolwright.ts"
