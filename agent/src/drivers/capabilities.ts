/** Capabilities of drivers that do not depend on a run, and what installing commands leave. */
import type { ProviderPackage } from '../providers/provider-package.ts';

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

/** What an installing command has left. */
export interface Installed {
  /** Contents by name, relative to the configuration's folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly packages: readonly InstalledPackage[];
}
export interface InstalledPackage extends ProviderPackage {
  /** Relative to the configuration's folder. */
  readonly path: string;
}
