import type * as Pi from "@earendil-works/pi-coding-agent"

/**
 * The values of the host package that the core needs. The thin entry imports them and passes them in: the core is a
 * CommonJS bundle, in which the host's own copies could not be reached (facts/pi, "Loading").
 */
export interface Host {
  /** The host's version, such as `1.6.0`. */
  readonly version: string
  /** The real path of the extension file that Pi loaded: what a worker is started with (spec 5). */
  readonly entry: string
  /** The directory of the host's settings, resolved by the host. */
  readonly agentDir: () => string
  /** The host's queue of mutations of one file, shared with its own edit and write tools. */
  readonly withFileMutationQueue: typeof Pi.withFileMutationQueue
  /** The classes by which the host itself finds the extensions that it loads in a directory. */
  readonly SettingsManager: typeof Pi.SettingsManager
  /** By which the host keeps saved sessions. */
  readonly SessionManager: typeof Pi.SessionManager
  readonly ProjectTrustStore: typeof Pi.ProjectTrustStore
  readonly DefaultPackageManager: typeof Pi.DefaultPackageManager
}
