/** Sampler settings, in the field's usual names and ranges; what a backend cannot express is left out and reported. */
export interface SamplingOptions {
  temperature?: number
  topK?: number
  topP?: number
  minP?: number
  repetitionPenalty?: number
  frequencyPenalty?: number
  presencePenalty?: number
  maxTokens?: number
  seed?: number
  stop?: readonly string[]
  logitBias?: Readonly<Record<number, number>>
}
