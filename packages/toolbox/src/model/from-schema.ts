import type { JsonObject, JsonSchema } from "./schema.ts"

/** A JSON Schema as it is written down in a program, so that the compiler can read it. */
export interface LiteralSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, LiteralSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | LiteralSchema
  readonly items?: LiteralSchema | boolean
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly [keyword: string]: unknown
}

/** The type of the values that a schema allows, as far as its literals say; `unknown` where they say nothing. */
export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer One)[] }
      ? FromSchema<One>
      : Schema extends { readonly type: infer Type }
        ? FromType<Schema, Type extends readonly (infer One)[] ? One : Type>
        : unknown

type FromType<Schema, Type> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? (Schema extends { readonly items: infer Items } ? FromSchema<Items> : unknown)[]
          : Type extends "object"
            ? FromObject<Schema>
            : unknown

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? JsonObject
    : Flat<
        { [Key in keyof Properties & RequiredOf<Schema>]: FromSchema<Properties[Key]> } & {
          [Key in Exclude<keyof Properties, RequiredOf<Schema>>]?: FromSchema<Properties[Key]>
        }
      >
  : JsonObject

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never

type Flat<Type> = { [Key in keyof Type]: Type[Key] }

/** Whether the compiler knows no more of a schema than that it is one. */
type IsPlain<Schema> = JsonSchema extends Schema ? true : LiteralSchema extends Schema ? true : false

/** The arguments of a tool with such parameters; any object where only the run knows them. */
export type ArgumentsFrom<Schema> =
  IsPlain<Schema> extends true ? JsonObject : FromObject<Schema> extends infer Args extends object ? Args : JsonObject
