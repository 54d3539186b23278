/** How model families write tool calls: printing, reading, streaming. */
export * from "@toolwright/toolformat"
