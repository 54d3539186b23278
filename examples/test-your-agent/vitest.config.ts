/**
 * Only inside Toolwright's own repository, where packages run from their sources; a project that installs them needs
 * none of this.
 */
export default {
  resolve: { conditions: ["toolwright-source"] },
  ssr: { resolve: { conditions: ["toolwright-source"] } },
}
