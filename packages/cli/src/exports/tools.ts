/** The built-in tools, for registries of one's own. */
export * from "@toolwright/tools"
