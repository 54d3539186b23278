/** What began in one part of a span; times of runs in milliseconds. Single calls count among the calls alone. */
export interface FiguresBucket {
  /** Where it begins, in milliseconds since 1970. */
  time: number
  runs: number
  failed: number
  calls: number
  failedCalls: number
  inputTokens: number
  outputTokens: number
  /** What the models cost, where their prices are known. */
  cost?: number
  ms50: number
  ms95: number
}

/** A tool, a model or a format over time: a value for each part of the span. */
export interface FiguresSeries {
  count: number[]
  failed: number[]
  inputTokens: number[]
  outputTokens: number[]
  /** Of a model whose price is known. */
  cost?: number[]
  ms50: number[]
  ms95: number[]
}

/** Sums of a tool, a model or a format. */
export interface FiguresRow {
  name: string
  count: number
  failed: number
  /** Spellings that were put right before calls ran. */
  repaired: number
  inputTokens: number
  outputTokens: number
  /** Of a model whose price is known, in the unit of the setting `model.prices`. */
  cost?: number
  ms50: number
  ms95: number
  /** Of as many of the most frequent as `series` asks for. */
  over?: FiguresSeries
}

/** What `GET /figures` answers. */
export interface Figures {
  from: number
  to: number
  /** Length of a part, in milliseconds. */
  step: number
  over: FiguresBucket[]
  tools: FiguresRow[]
  models: FiguresRow[]
  formats: FiguresRow[]
  /** Runs and single calls that were counted, of those that have ended. */
  runs: number
  /** Whether there were more than are counted. */
  more: boolean
  /** The newest ones, whose calls were looked at one by one. */
  looked: number
}
