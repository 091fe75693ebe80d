/** Facts for all our programs about a program that runs start, and about its releases. */
import type { Job } from '../../messages/job.ts';

/** A program that a driver runs: the tool's own, or one that it needs in addition. */
export interface ProgramFacts {
  /** Its file's name, on a PATH and in its release. */
  readonly name: string;
  /** Remedy if it is missing. */
  readonly howToGet: string;
  /** Arguments that make it print its version. Empty: it prints none, and has that of the release it comes with. */
  readonly versionArguments: readonly string[];
  /**
   * The version in the output of `versionArguments`. Throws an Error that completes "<program> does not report
   * its version: ".
   */
  readVersion(output: string): string;
  /** Environment variables that request a version, in the order in which they count. */
  readonly versionVariables: readonly string[];
  /** Null: it is not downloaded, and must be on the agent's PATH. */
  readonly release: ReleaseFacts | null;
  /**
   * The program is a part of the agent: a role of its own program, with the same name. This is its version, which
   * changes only when what it does changes, so that plans outlive an upgrade of the agent. Absent: a file.
   */
  readonly ownVersion?: string;
}

/** A program that a driver runs in addition to the tool's own. */
export interface CompanionFacts {
  /** Requesters of a version of it, in addition to the variables of the program. Absent: none. */
  readonly version?: {
    /** A field of the template. */
    readonly field: keyof NonNullable<Job['settings']> & `${string}Version`;
    /** A file in the code that names a version. */
    readonly file: string;
  };
  /** If it has the release of the tool's own program, it is the one next to that. */
  readonly program: ProgramFacts;
  /** Runs get it only if one of its version variables is set; without one, it is whatever the PATH has. */
  readonly isOptional: boolean;
  /** Whether a run with these settings needs it. Absent: every run does. */
  isFor?(settings: Job['settings']): boolean;
}

/** A path below the publisher's host or the mirror's address. */
export interface ReleasePlace {
  readonly host: string;
  /** Begins with `/`. */
  readonly path: string;
}

/**
 * Publisher of releases. A mirror has the same paths below its own address, whatever hosts they are
 * published on.
 */
interface ReleaseSource {
  /** In the names of the settings of its mirror. */
  readonly word: string;
  /** As settings name what is downloaded. */
  readonly label: string;
  readonly publisher: string;
  /** Names of the programs of a release. The first names the release in the cache and in orders. */
  readonly programs: readonly [string, ...string[]];
  /** Layout of a mirror; completes "Where <label> is downloaded from, …". */
  readonly layout: string;
  /** A list of versions. Publishers that list only the newest one have a text with that. */
  readonly index: ReleasePlace;
  /**
   * Versions that the index lists for a platform such as `linux_amd64`; those that are not semantic versions
   * are dropped by the caller. Throws what a parser throws.
   */
  readIndex(text: string, platform: string): string[];
}

/** One file for each version and platform, with a file of checksums. */
export interface ArchiveRelease extends ReleaseSource {
  readonly kind: 'archive';
  archive(version: string, platform: string): Archive;
  checksums(version: string, platform: string): Checksums;
  /** Null: nothing is signed, so that the checksums are as good as the connection that they came over. */
  readonly signature: SignatureFacts | null;
}

export interface Archive extends ReleasePlace {
  /** `program`: the file is the program itself. */
  readonly format: 'zip' | 'tar.gz' | 'program';
  /** The program's path in the archive. */
  readonly entry: string;
  /** Paths of other programs in a tar.gz, which are kept next to it; the first group is the file's name. */
  readonly others?: RegExp;
}

export interface Checksums extends ReleasePlace {
  /** It contains the checksum of the archive and nothing else; otherwise lines of checksum and name. */
  readonly isBare?: true;
}

export interface SignatureFacts {
  /**
   * Possible places of a signature of the checksums, in the order to try.
   * @param keyIds short ids of the accepted keys
   */
  places(version: string, keyIds: readonly string[]): ReleasePlace[];
  /** Armored. */
  readonly publicKey: string;
}

/**
 * Packages of Python, which are installed with all that they need into an environment of their own. A mirror
 * is a simple index as in PEP 503, or a folder of wheels.
 */
export interface PythonRelease extends ReleaseSource {
  readonly kind: 'python';
  /** Names of all programs of the package: tasks can run those that are installed. */
  readonly all: RegExp;
  /** The package and its version, as pip takes it. */
  requirement(version: string): string;
}

export type ReleaseFacts = ArchiveRelease | PythonRelease;

/** Names of the settings of what is downloaded: its mirror, and the key of that mirror. */
export function mirrorSettingNames(word: string): { readonly mirror: string; readonly key: string } {
  const name = word.toUpperCase();
  return { mirror: `ENVARIUM_TOOL_MIRROR_${name}`, key: `ENVARIUM_TOOL_MIRROR_KEY_${name}` };
}

/** Downloads with signed checksums: a mirror of them may have its own key. */
export function isSigned(release: ReleaseFacts): release is ArchiveRelease & { signature: SignatureFacts } {
  return release.kind === 'archive' && release.signature !== null;
}
