/** Configuration of the GitHub tools. */
export interface GithubConfig {
  /**
   * A token; the environment variable `GITHUB_TOKEN` unless given. Without either, only public repositories can be
   * read.
   */
  token?: string
  /** Address of the REST API; `https://api.github.com` unless given. For GitHub Enterprise: `https://HOST/api/v3`. */
  apiUrl?: string
  /** Address that pull request URLs begin with; `https://github.com` unless given. */
  webUrl?: string
}
