/** Prompt files: loading, listing, rendering. */
export * from "@toolwright/prompts"
