import type { Kysely } from "kysely"
import type { Migration } from "kysely/migration"
import { nameSign } from "../name-sign.ts"

interface Owned {
  owned_files: { workspace: string; path: string; agent: string; created_at: number; sign: string | null }
}

/** A file has one owner also where two spellings of its name are one to some file systems. */
export const ownedNames: Migration = {
  async up(database: Kysely<Owned>) {
    await database.schema.alterTable("owned_files").addColumn("sign", "text").execute()
    const rows = await database.selectFrom("owned_files").select(["workspace", "path"]).orderBy("created_at").execute()
    const seen = new Set<string>()
    for (const { workspace, path } of rows) {
      const sign = nameSign(path)
      const key = JSON.stringify([workspace, sign])
      // Of two that were made before and are alike now, the older keeps the name; the other has no claim to it.
      if (seen.has(key)) continue
      seen.add(key)
      const row = database.updateTable("owned_files").set({ sign }).where("workspace", "=", workspace)
      await row.where("path", "=", path).execute()
    }
    await database.schema
      .createIndex("owned_files_by_sign")
      .on("owned_files")
      .columns(["workspace", "sign"])
      .unique()
      .execute()
  },
}
