/** Places of a state: the backend of the code, its other workspaces, and several files. */
import type { Command, PhaseCaptures } from './command.ts';

/**
 * A state that the backend of the code stores. The commands run without the service's backend, and change
 * nothing.
 */
export interface KeptElsewhere {
  /** The backend's name in the code. */
  readonly name: string;
  /** Commands to run first, in this order. */
  readonly reach: readonly Command[];
  /**
   * @returns the command that captures the state (empty output if there is none), or why there is none to
   * read
   */
  read(captures: PhaseCaptures): Command | { readonly nothing: string };
}

/**
 * The check before the first plan in a workspace with a generated name: the other workspaces of the code's
 * backend. The commands run after `init` and before the workspace is selected, and change nothing.
 */
export interface OtherWorkspaces {
  /** The backend's name in the code. */
  readonly backend: string;
  /** Run variable that allows the empty workspace. */
  readonly variable: string;
  readonly list: Command;
  /** @param output the captured output of `list` */
  names(output: Uint8Array): string[];
  /** Captures the state of a workspace; empty if it has none. */
  pull(workspace: string): Command;
}

/**
 * A state that the tool keeps in several files below `stateFolder`, or in another form. The service stores it as one:
 * what `join` makes of them, which `state.read` reads.
 */
export interface SeveralFiles {
  /** Whether a file of this name is a part of the state. */
  isPart(name: string): boolean;
  /**
   * Folders below `stateFolder` with parts of the state. Absent: all are directly in it.
   * @param list the names in a folder below `stateFolder`
   */
  folders?(list: (folder: string) => Promise<string[]>): Promise<readonly string[]>;
  /** The names and contents of the files of a stored state. @throws Error if it is damaged */
  split(stored: Uint8Array): ReadonlyMap<string, Uint8Array>;
  /**
   * The state that files contain.
   * @param files by name, each complete; parts of `before` without a file stay as they are
   * @param before the newest state that is stored; null: none
   * @throws TornState if the files are not a state yet
   */
  join(files: ReadonlyMap<string, Uint8Array>, before: Uint8Array | null): Uint8Array;
  /** @throws TornState if a file is empty or incomplete */
  check(file: Uint8Array): void;
  /**
   * The files to which the tool has written states that it could not store, by the name of the part that they
   * replace; paths are relative to the configuration's folder.
   * @param list the names in one of its folders; none if it does not exist
   */
  rescued(list: (folder: string) => Promise<string[]>): Promise<readonly RescuedFile[]>;
  /** The part that has a resource with an address as `progress` reports it; null: not known. Absent: there is one. */
  partOf?(address: string): string | null;
  /** Whether the state has a resource with an address as `progress` reports it; others are stored elsewhere. */
  keeps(address: string): boolean;
}
export interface RescuedFile {
  readonly part: string;
  readonly path: string;
}
