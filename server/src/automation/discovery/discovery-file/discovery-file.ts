/** Contents of `envarium-discovery.yml`, the file in which a repository lists its environments. */

export const discoveryFileName = 'envarium-discovery.yml';

/** One environment of the file. Absent fields are not set in the file. */
export interface FileEnvironment {
  /** Identifies the environment in the file. */
  readonly key: string;
  /** Of the key, from 1. */
  readonly line: number;
  readonly name: string;
  /** Either this or `templateName`. */
  readonly templateId?: string;
  readonly templateName?: string;
  /** Either this or `projectNames`. */
  readonly projectId?: string;
  /** From the outermost project to the one of the environment. */
  readonly projectNames?: readonly string[];
  readonly workspaceName?: string;
  readonly revision?: string;
  /** Normalized paths in the repository: later files take precedence. */
  readonly variableFiles?: readonly string[];
  readonly requiresApproval?: boolean;
  readonly isRemoteBackend?: boolean;
  readonly continuousDeployment?: boolean;
  readonly autoDeployOnPathChangesOnly?: boolean;
  readonly autoDeployByCustomGlob?: string;
  readonly pullRequestPlanDeployments?: boolean;
  readonly vcsPrCommentsEnabled?: boolean;
  readonly vcsCommandsAlias?: string;
  readonly driftDetectionCron?: string;
}

/** A problem of the file. */
export interface DiscoveryFileError {
  /** The environment that it concerns; absent: the file. */
  readonly key?: string;
  /** From 1. */
  readonly line: number;
  /** A sentence without a period. */
  readonly message: string;
}

export interface DiscoveryFile {
  /** Those without errors, in the order of the file. */
  readonly environments: readonly FileEnvironment[];
  readonly errors: readonly DiscoveryFileError[];
  /**
   * Keys of all environments, including those with errors: only environments whose key is missing here are removed
   * from the file. Null if the file cannot be read, which removes nothing.
   */
  readonly keys: readonly string[] | null;
}

/** A file that cannot be read: it says nothing about its environments, and therefore removes none. */
export function unreadableFile(line: number, message: string): DiscoveryFile {
  return { environments: [], errors: [{ line, message }], keys: null };
}
