/** Inputs of every way of fetching a release, and its result. */
import type { FetchLimits } from '../network/fetch-bounded.ts';
import type { ToolchainOrder } from './tool-mirror.ts';

/** A release that could not be obtained from its mirror or publisher; one sentence for a person. */
export class ReleaseProblem extends Error {
  override readonly name = 'ReleaseProblem';
}

/** One program of the machine, run as the agent's user: it belongs to no run. */
export interface AsideRequest {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** In addition to those of every such program; values may be secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder that it may write to, and is started in. */
  readonly folder: string;
  /** Folders that it has to see in addition to the system's. */
  readonly readable: readonly string[];
}

/** @returns the exit code, null after a signal, and the end of what was printed */
export type RunAside = (request: AsideRequest) => Promise<{ exitCode: number | null; output: string }>;

export interface FetchContext {
  readonly order: ToolchainOrder;
  readonly signal: AbortSignal;
  /** Receives lines for the step's log. */
  readonly log: (text: string) => void;
  /** For releases that a program of the machine installs; absent: they cannot be installed. */
  readonly runAside?: RunAside;
  /** Limits that replace those of the product, for tests. */
  readonly bounds?: Partial<FetchLimits>;
}

/** A release that was fetched and checked. */
export interface BuiltRelease {
  /** Of the program that names the release, lower-case hex. */
  readonly sha256: string;
  /** With the other programs. */
  readonly bytes: number;
  /** SHA-256 of the other programs that it brings, by the names of their files. */
  readonly others?: Readonly<Record<string, string>>;
  /** Fingerprint of the key that signed its checksum; absent: nothing is signed. */
  readonly key?: string;
  /** Name of its environment, for packages. */
  readonly environment?: string;
  /** Checks that were made, for the step's log. */
  readonly checked: string;
}
