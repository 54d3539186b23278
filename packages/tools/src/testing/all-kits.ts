import { blogKit } from "@toolwright/tools-blog"
import { databaseKit } from "@toolwright/tools-database"
import { webKit } from "@toolwright/tools-web"

/** Every kit that we make, unconfigured. */
export const ALL_KITS = [webKit(), blogKit(), databaseKit()]
