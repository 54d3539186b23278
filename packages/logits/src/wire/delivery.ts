import { messageOf } from "@toolwright/toolbox"
import { isConstraintError } from "./refusals.ts"

/**
 * How tools reach a model and calls come back, best first: `native`, the server's own tool use; `grammar`, the family's
 * call syntax as text, held by a grammar; `schema`, a call as one JSON object, held by a JSON Schema; `text`, the
 * family's call syntax as text, held by nothing; `generic`, JSON calls that any model can be told to write.
 */
export const DELIVERIES = ["native", "grammar", "schema", "text", "generic"] as const

export type Delivery = (typeof DELIVERIES)[number]

/** What a server can do, as configured or probed; a backend's `abilities` fit. */
export interface DeliveryAbilities {
  readonly nativeTools: boolean
  readonly grammar: boolean
  readonly jsonSchema: boolean
  /** Whether a grammar may begin to hold only where a call begins. */
  readonly lazyGrammar?: boolean | undefined
}

export interface DeliverySettings {
  /** Use this one if it is possible at all; the ladder decides otherwise. */
  readonly prefer?: Delivery | undefined
  /** Whether the model's family is known, so that its own call syntax can be used. */
  readonly knownFamily?: boolean
  /** Whether a grammar of the active tools could be made; false when it was refused. */
  readonly hasGrammar?: boolean
  /** Whether the reply must be a call. A schema leaves no room for text, so it serves only then. */
  readonly mustCall?: boolean
  /** What has failed with this model before and is not to be tried again. */
  readonly failed?: readonly Delivery[]
}

/** The one constraint that goes into the request; never two. */
export type DeliveryConstraint = "tools" | "grammar" | "jsonSchema" | "none"

export interface DeliveryChoice {
  readonly kind: Delivery
  readonly constraint: DeliveryConstraint
  /** Why this one, for the record. */
  readonly reason: string
}

const CONSTRAINTS: Record<Delivery, DeliveryConstraint> = {
  native: "tools",
  grammar: "grammar",
  schema: "jsonSchema",
  text: "none",
  generic: "none",
}

/**
 * The best delivery that is possible, preferred or not. `generic` is always possible. Whatever is chosen, calls are
 * validated afterwards: a constraint is help, not proof.
 *
 * @example
 * const server = { nativeTools: false, grammar: true, jsonSchema: true }
 * chooseDelivery(server, { knownFamily: true, hasGrammar: true }).kind // "grammar"
 */
export function chooseDelivery(abilities: DeliveryAbilities, settings: DeliverySettings = {}): DeliveryChoice {
  const possible = DELIVERIES.map((kind) => ({ kind, obstacle: obstacleTo(kind, abilities, settings) }))
  const open = possible.filter(({ obstacle }) => obstacle === undefined).map(({ kind }) => kind)
  const { prefer } = settings
  if (prefer !== undefined && open.includes(prefer)) return deliver(prefer, "as configured")
  const kind = open[0] ?? "generic"
  const missed = possible
    .slice(0, DELIVERIES.indexOf(kind))
    .map(({ kind: better, obstacle }) => `${better}: ${obstacle}`)
  const wish = prefer === undefined ? [] : [`${prefer} was configured but is not possible`]
  return deliver(kind, [...wish, ...missed].join("; ") || "the best there is")
}

function deliver(kind: Delivery, reason: string): DeliveryChoice {
  return { kind, constraint: CONSTRAINTS[kind], reason }
}

function obstacleTo(kind: Delivery, abilities: DeliveryAbilities, settings: DeliverySettings): string | undefined {
  if (kind === "generic") return undefined
  if (settings.failed?.includes(kind) === true) return "failed before"
  switch (kind) {
    case "native":
      return abilities.nativeTools ? undefined : "the server has no native tool use"
    case "grammar":
      if (!abilities.grammar) return "the server takes no grammar"
      return settings.hasGrammar === false ? "no grammar can be made of these tools" : undefined
    case "schema":
      if (!abilities.jsonSchema) return "the server takes no JSON Schema"
      return settings.mustCall === true ? undefined : "a schema would forbid text"
    case "text":
      return settings.knownFamily === false ? "the model's family is not known" : undefined
  }
}

/** A change of delivery, for the record of the run. */
export interface Fallback {
  readonly from: Delivery
  readonly to: DeliveryChoice
  readonly error: string
}

/**
 * What to do after a delivery failed: the next one without its constraint, once. A failure that has nothing to do with
 * the constraint (the server is down, the key is wrong) is not for this, and neither is a second failure.
 *
 * @returns nothing when the failure is to be passed on
 */
export function fallBackFrom(
  delivery: DeliveryChoice,
  error: unknown,
  abilities: DeliveryAbilities,
  settings: DeliverySettings = {},
): Fallback | undefined {
  if (delivery.constraint === "none" || (settings.failed?.length ?? 0) > 0 || !isConstraintError(error))
    return undefined
  const failed: Delivery[] = delivery.constraint === "tools" ? ["native"] : ["native", "grammar", "schema"]
  const { prefer: _ignored, ...rest } = settings
  return { from: delivery.kind, to: chooseDelivery(abilities, { ...rest, failed }), error: messageOf(error) }
}
