/** A value of a row. */
export type SqlValue = string | number | null

/** What a statement brought: its rows, and how many it changed. */
export interface Answer<Row> {
  rows: Row[]
  changed: number
}

/** A statement with its values. */
export interface Statement {
  readonly sql: string
  readonly values: readonly SqlValue[]
  /** How many rows it has to change: with any other number nothing that is written with it is. */
  readonly changes?: number
}

/** Runs one statement; `?` stands for a value. */
export type Execute = <Row>(sql: string, values?: readonly SqlValue[]) => Promise<Answer<Row>>

/** A connection that is held by one piece of work until it is released. */
export interface Connection {
  readonly execute: Execute
  release(): void
}

/** What a kind of database brings along; everything else is made of it. */
export interface Driver {
  readonly dialect: SqlDialect
  /** The statement with which a transaction begins that will write. */
  readonly begin: string
  connect(): Promise<Connection>
  /**
   * Writes a moment later what nobody waits for; see `Database.behind`. Absent where connections write side by side.
   */
  behind?(statements: readonly Statement[], lost: (thrown: unknown) => void): Promise<void>
  close(): Promise<void>
}

export type SqlDialect = "sqlite" | "postgres"
