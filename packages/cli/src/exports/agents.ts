/** Executors, profiles, gates and records. */
export * from "@toolwright/agents"
