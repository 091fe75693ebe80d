/** Capabilities of drivers that do not depend on a run, and what installing commands leave. */
import type { ResourceToImport } from '#protocol/messages/job.ts';
import type { ProviderPackage } from '../../providers/provider-package.ts';
import type { PhaseCaptures } from './command.ts';

/**
 * The tool installs providers using the protocol of terraform's registries: the agent provides its cache and
 * writes the CLI configuration.
 */
export interface ProviderCapability {
  /** The variable that names a CLI configuration; a run that sets it manages its own providers. */
  readonly configurationVariable: string;
  /** Files of a folder that may name registry hosts. */
  readonly codeFiles: RegExp;
  /** Packages must be signed by their publisher. */
  readonly needsSignature: boolean;
}

/** The tool collects its garbage in a way that variables of its environment determine. */
export interface CollectorCapability {
  /**
   * Variables for a command during which the tool starts no plugins.
   * @param memoryBytes what the run may use; null: unlimited
   */
  settings(memoryBytes: number | null): Readonly<Record<string, string>>;
  /** Whether commands start plugins, which get the environment of the tool. @param lockFile its text, after `prepare` */
  hasPlugins(lockFile: string | null): boolean;
}

/** A plan of the tool can take existing resources into the state. */
export interface ImportCapability {
  /** Why this version of the tool cannot; null if it can. */
  refusal(version: string): string | null;
  /**
   * Declares imports in a file of the configuration.
   * @param wanted addresses and ids as an earlier run of the tool printed them: not to be trusted
   * @param state of the environment; null: it has none
   */
  declare(wanted: readonly ResourceToImport[], state: Uint8Array | null): DeclaredImports;
}
export interface DeclaredImports {
  /** Null if nothing is left to import. Its name, relative to the configuration's folder, belongs to its content, so that writing it again is harmless. */
  readonly file: { readonly name: string; readonly content: string } | null;
  readonly imported: readonly ResourceToImport[];
  readonly skipped: readonly (ResourceToImport & { readonly reason: string })[];
}

/** The tool shows its plans as JSON of terraform, of which infracost knows what they cost. */
export interface CostCapability<Context> {
  /** @param captures what the commands of `plan` have captured */
  plans(context: Context, captures: PhaseCaptures): readonly PlanToEstimate[];
}
export interface PlanToEstimate {
  /** Path of the unit; null where there is only one. */
  readonly unit: string | null;
  /** The plan as the tool shows it as JSON. */
  readonly json: Uint8Array;
}

/** Files that an installing command has left. */
export interface Installed {
  /** Contents by name, relative to the configuration's folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly packages: readonly InstalledPackage[];
  /** Folders of the tree in which the command has read code. */
  readonly folders: readonly string[];
}
export interface InstalledPackage extends ProviderPackage {
  /** Relative to the configuration's folder. */
  readonly path: string;
}

/** Files that an installing command has found. */
export interface InstalledFrom {
  /** The whole tree. */
  readonly code: TreeReader;
  /** As it was before the command; null: there was none. */
  readonly lockFile: string | null;
}

/** Reads text files of the tree with the slot's rights. */
export interface TreeReader {
  /** Names of the entries of a folder of the configuration; `''` is the configuration's folder itself. */
  list(folder: string): Promise<string[]>;
  /** A file's text; null if it does not exist. @throws above 10 MB */
  text(name: string): Promise<string | null>;
}
