/** Grammars and masks for constrained decoding. */
export * from "@toolwright/logits"
