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
  setGiven(args, propertySetter(values, properties, warn))
  return { kind: "data_source_id", id: asText(source.id) ?? "", properties: values, titleProperty }
}

type SetProperty = (name: string, types: readonly string[], make: (type: string) => JsonObject) => void

function setGiven(args: JsonObject, set: SetProperty): void {
  const { tags, status } = args as { tags?: string[]; status?: string }
  if (tags !== undefined)
    set("tags", ["multi_select"], () => ({ multi_select: tags.map((name) => ({ name: name.replaceAll(",", " ") })) }))
  if (status !== undefined) set("status", ["status", "select"], (type) => ({ [type]: { name: status } }))
}

/** Sets properties of a page where its database has them, and warns where it has not. */
function propertySetter(
  values: JsonObject,
  properties: readonly { name: string; type: string }[],
  warn: (message: string) => void,
): SetProperty {
  return (name, types, make) => {
    const property = properties.find((each) => each.name.toLowerCase() === name && types.includes(each.type))
    if (property === undefined) warn(`The database has no property '${name}' of a fitting kind; it was left out.`)
    else values[property.name] = make(property.type)
  }
}
