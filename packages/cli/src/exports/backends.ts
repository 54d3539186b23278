/** Everything about models: servers, GGUF files, screenplays. */
export * from "@toolwright/backends"
