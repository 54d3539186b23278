import type { JsonObject } from "@toolwright/toolbox"
import { asObject, asText } from "@toolwright/host/net"
import { NotionError, type NotionRequest } from "./client.ts"
import { textItems } from "./rich-text.ts"

/** Where a page goes, and which properties it gets there. */
export interface PageParent {
  kind: "page_id" | "data_source_id"
  id: string
  properties: JsonObject
  /** Name of the property that holds titles. */
  titleProperty: string
}

/**
 * Finds out what an id is: a database (its one data source takes the page), or a page.
 *
 * @throws NotionError
 */
export async function resolveParent(
  request: NotionRequest,
  id: string,
  title: string,
  args: JsonObject,
  warn: (message: string) => void,
): Promise<PageParent> {
  const titleValue = { title: textItems(title).slice(0, 1) }
  let database: JsonObject
  try {
    database = await request("GET", `/v1/databases/${id}`)
  } catch (thrown) {
    const isOther = thrown instanceof NotionError && (thrown.status === 404 || thrown.status === 400)
    if (!isOther) throw thrown
    await request("GET", `/v1/pages/${id}`)
    if (args.tags !== undefined || args.status !== undefined)
      warn("Tags and status were left out: only pages in a database have them.")
    return { kind: "page_id", id, properties: { title: titleValue }, titleProperty: "title" }
  }
  const sources = Array.isArray(database.data_sources) ? database.data_sources.map(asObject) : []
  const [source] = sources
  if (source === undefined || sources.length > 1) {
    const names = sources.map((one) => `${asText(one.name) ?? ""} ${asText(one.id) ?? ""}`.trim()).join(", ")
    throw new NotionError(
      "AMBIGUOUS_PARENT",
      400,
      `The database has ${sources.length} data sources${names === "" ? "" : ` (${names})`}; one is needed.`,
      {
        hint: "Publish under a database with a single data source, or under a page.",
      },
    )
  }
  const { properties: schema } = await request("GET", `/v1/data_sources/${asText(source.id) ?? ""}`)
  const properties = Object.entries(asObject(schema)).map(([name, property]) => ({
    name,
    type: asText(asObject(property).type) ?? "",
  }))
  const titleProperty = properties.find(({ type }) => type === "title")?.name ?? "Name"
  const values: JsonObject = { [titleProperty]: titleValue }
  setIfThere(
    values,
    properties,
    "tags",
    ["multi_select"],
    args.tags,
    (_, tags) => ({ multi_select: (tags as string[]).map((name) => ({ name: name.replaceAll(",", " ") })) }),
    warn,
  )
  setIfThere(
    values,
    properties,
    "status",
    ["status", "select"],
    args.status,
    (type, name) => ({ [type]: { name } }),
    warn,
  )
  return { kind: "data_source_id", id: asText(source.id) ?? "", properties: values, titleProperty }
}

function setIfThere(
  values: JsonObject,
  properties: readonly { name: string; type: string }[],
  wanted: string,
  types: readonly string[],
  value: unknown,
  make: (type: string, value: unknown) => JsonObject,
  warn: (message: string) => void,
): void {
  if (value === undefined) return
  const property = properties.find(({ name, type }) => name.toLowerCase() === wanted && types.includes(type))
  if (property === undefined) warn(`The database has no property '${wanted}' of a fitting kind; it was left out.`)
  else values[property.name] = make(property.type, value)
}
