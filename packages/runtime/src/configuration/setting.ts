/** The type of a setting's value in the file; flags and variables are read as text and converted. */
export type SettingType = "string" | "integer" | "number" | "boolean" | "string-list" | "object"

/**
 * What a value can do to the person in whose folder it is found. What is `harmless` or `narrows` takes effect from any
 * file; all else waits for `toolwright trust`:
 *
 * - `harmless`: it chooses among what is there anyway
 * - `narrows`: it takes something away
 * - `programs`: it starts programs, or loads code, or calls that stand in a file
 * - `servers`: it names servers, to which things are sent and from which things are believed
 * - `keys`: it decides whose key is used
 * - `widens`: it opens folders, permissions, or a sandbox, or lets a run cost more
 */
export type SettingNature = "harmless" | "narrows" | "programs" | "servers" | "keys" | "widens"

/** Where a file's value would take effect. */
export interface Surroundings {
  /** The folder in which the command was started. */
  readonly cwd: string
  /** Everything that the file says, by key. */
  readonly values: ReadonlyMap<string, unknown>
}

/** One setting: its place in the file, and how else it can be given. */
export interface Setting {
  /** Dotted place in `toolwright.yaml`. */
  readonly key: string
  readonly type: SettingType
  readonly description: string
  readonly nature: SettingNature
  /**
   * The part of a value that only narrows, although the setting can do more; nothing unless given. It takes effect
   * without trust.
   */
  free?(value: unknown, surroundings: Surroundings): unknown
  /** Environment variables, the first that is set counts. */
  readonly env?: readonly string[]
  /** Command-line flag, without the dashes. */
  readonly flag?: string
  /** Settings of one group come from one place: a flag for one leaves out what a file says of the others. */
  readonly group?: string
  /** Whether it names a file or folder; one that a configuration file names is found from that file's folder. */
  readonly path?: true
  readonly values?: readonly string[]
  readonly minimum?: number
  readonly fallback?: string | number | boolean | readonly string[]
  /** Never shown in full. */
  readonly secret?: boolean
  /** The type of an `object`, for `Configuration`; see `typed`. */
  readonly holds?: Typed<unknown>
}

/** A type that is carried by a value, since a mapping's cannot be told from its declaration. */
export interface Typed<Value> {
  readonly value?: Value
}

/** Says what type a setting's mapping has. */
export function typed<Value>(): Typed<Value> {
  return {}
}

/** The value's type, as a setting declares it. */
type ValueOf<Declared extends Setting> = Declared extends { holds: Typed<infer Value> }
  ? Value
  : Declared extends { values: readonly (infer Word)[] }
    ? Word
    : {
        string: string
        integer: number
        number: number
        boolean: boolean
        "string-list": string[]
        object: Record<string, unknown>
      }[Declared["type"]]

type Nested<Key extends string, Value, Present extends boolean> = Key extends `${infer Head}.${infer Rest}`
  ? { [Name in Head]: Nested<Rest, Value, Present> }
  : Present extends true
    ? { [Name in Key]: Value }
    : { [Name in Key]?: Value }

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** An intersection, written as one mapping. */
type Joined<Section> = { [Name in keyof Section]: Section[Name] }

/** The configuration that a list of settings makes. */
export type ConfigurationOf<Declared extends readonly Setting[]> = SectionsOf<
  Intersection<
    Declared[number] extends infer Each
      ? Each extends Setting
        ? Nested<Each["key"], ValueOf<Each>, Each extends { fallback: unknown } ? true : false>
        : never
      : never
  >
>

type SectionsOf<All> = { [Section in keyof All]: Joined<All[Section]> }
