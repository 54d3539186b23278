/** What the configuration is, without anything that is made from it: quick to load, for help texts and editors. */
export * from "./file.ts"
export * from "./load.ts"
export * from "./schema.ts"
export * from "./settings.ts"
