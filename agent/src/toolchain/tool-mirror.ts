/** The source of one tool on this agent: its publisher, or a mirror from a setting. */
import {
  isSigned,
  type ProgramFacts,
  type ReleaseFacts,
  type ReleasePlace,
} from '#protocol/tools/programs/program.ts';

/** As sent to a runner, in memory only. */
export interface MirrorOrder {
  /** Address without credentials and without a trailing slash, or the absolute path of a folder. */
  readonly url?: string;
  /** Value of the `authorization` header. */
  readonly authorization?: string;
  /** Armored public keys that replace the publisher's. */
  readonly publicKey?: string;
}

/** Tools that a runner may fetch, and their cache. */
export interface ToolchainOrder {
  /** Absolute path of the cache; the agent owns it, and the users of runs can read it. */
  readonly cacheFolder: string;
  readonly cacheBytes: number;
  /** By the program that names the release; a missing one is fetched from its publisher, `null` means that nothing is fetched. */
  readonly mirrors: Readonly<Record<string, MirrorOrder | null>>;
}

export interface ReleaseOrigin {
  readonly program: string;
  readonly release: ReleaseFacts;
  /** For messages: an address without credentials. */
  readonly name: string;
  /** Armored; null: its checksums are not signed. */
  readonly publicKeys: string | null;
  /** The mirror's address or folder; empty: there is none. */
  readonly base: string;
  readonly isFolder: boolean;
  url(place: ReleasePlace): string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns null if nothing may be fetched */
export function originOf(program: ProgramFacts, { mirrors }: ToolchainOrder): ReleaseOrigin | null {
  const { release } = program;
  if (release === null) return null;
  const [name] = release.programs;
  const mirror = mirrors[name];
  if (mirror === null) return null;
  const base = mirror?.url ?? '';
  return {
    program: name,
    release,
    name: base || release.index.host,
    publicKeys: isSigned(release) ? (mirror?.publicKey ?? release.signature.publicKey) : null,
    base,
    isFolder: base.startsWith('/'),
    url: ({ host, path }) => `${base || host}${path}`,
    headers: mirror?.authorization === undefined ? {} : { authorization: mirror.authorization },
  };
}
