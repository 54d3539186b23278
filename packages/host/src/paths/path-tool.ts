import { defineTool, type JsonObject, type ToolDefinition, type ToolSpecification } from "@toolwright/toolbox"
import { pathFailure } from "./path-errors.ts"

/** `defineTool` for a tool that works on paths: what goes wrong with a path becomes a failed result that names it. */
export function definePathTool(specification: ToolSpecification<JsonObject>): ToolDefinition {
  return defineTool({
    ...specification,
    async execute(args: JsonObject, context) {
      try {
        return await specification.execute(args, context)
      } catch (thrown) {
        return pathFailure(thrown, askedPath(args))
      }
    },
  })
}

function askedPath(args: JsonObject): string {
  const path = args["path"] ?? args["source"] ?? args["directory"] ?? ""
  return typeof path === "string" ? path : ""
}
