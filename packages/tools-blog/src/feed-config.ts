/** A feed that whoever runs this has chosen. */
export interface ConfiguredFeed {
  name: string
  url: string
}

/** Configuration of the feed reader. Configured feeds may live on private servers. */
export interface RssFeedConfig {
  feeds?: readonly ConfiguredFeed[]
}
