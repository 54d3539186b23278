/** Where conversations are kept. */
export * from "@toolwright/store"
