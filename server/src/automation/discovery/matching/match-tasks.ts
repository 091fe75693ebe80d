/** Tasks of the thread that matches, and its answers. */
import type { DiscoveredType } from '#protocol/tools/code-files.ts';

/** A folder with the file that it was found by. Paths begin below the root of the repository, whose folder is ''. */
export interface KnownFolder {
  readonly folder: string;
  readonly file: string;
}

/** Files to find. */
export interface MatchRule {
  readonly globPattern: string;
  /** Normalized, without slashes around it; '': the root of the repository. */
  readonly rootPath: string;
  readonly type: DiscoveredType;
  /** Folders that earlier scans made environments of, with the file that matched. */
  readonly known: readonly KnownFolder[];
}

export interface MatchedFolder extends KnownFolder {
  /** IDs of git for the file and the folder, to recognize moved folders; the root of the repository has no treeId. */
  readonly fileId: string;
  readonly treeId: string;
  /** Further matching files of this folder, at most 5. */
  readonly otherFiles: readonly string[];
}

/** A folder with code of this type, or with a matching name, that became nothing. */
export interface PassedOverFolder extends KnownFolder {
  /** A sentence without a period. */
  readonly reason: string;
}

export interface MatchedTree {
  /** Files of the commit, without submodules. */
  readonly files: number;
  /** Sorted by folder. */
  readonly folders: readonly MatchedFolder[];
  /** The first 1,000, sorted by folder. */
  readonly passedOver: readonly PassedOverFolder[];
  readonly passedOverCount: number;
  /** Known folders whose file is no longer in the tree, and that no other file matches in. */
  readonly gone: readonly string[];
}

/** A folder that the glob matches no file of; the thread explains it in a second task. */
export interface UnmatchedFolder {
  readonly folder: string;
  /** Files with code, at most 10. */
  readonly files: readonly string[];
}

export interface MatchAnswer extends Omit<MatchedTree, 'passedOver'> {
  readonly passedOver: readonly (PassedOverFolder | UnmatchedFolder)[];
}

export interface MatchTask {
  readonly kind: 'match';
  readonly listing: readonly Uint8Array[];
  readonly rule: MatchRule;
}

/** Finds out, for each list of files, which part of the glob excludes them. */
export interface ExplainTask {
  readonly kind: 'explain';
  readonly globPattern: string;
  readonly files: readonly (readonly string[])[];
}

/** One for each list of files. */
export type Explanations = readonly { readonly file: string; readonly reason: string }[];

/** Answered with what `globProblem` finds. */
export interface CheckTask {
  readonly kind: 'check';
  readonly globPattern: string;
}

export type ThreadTask = MatchTask | ExplainTask | CheckTask;
