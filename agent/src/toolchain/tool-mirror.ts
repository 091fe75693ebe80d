/** The source of one tool on this agent: its publisher, or a mirror from a setting. */
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from '#protocol/tools/tool.ts';

/** As sent to a runner, in memory only. */
export interface MirrorOrder {
  /** Address without credentials and without a trailing slash. */
  readonly url?: string;
  /** Value of the `authorization` header. */
  readonly authorization?: string;
  /** Armored public keys that replace the publisher's. */
  readonly publicKey?: string;
}

/** What a runner may fetch, and where it is cached. */
export interface ToolchainOrder {
  /** Absolute path of the cache; the agent owns it, and the users of runs can read it. */
  readonly cacheFolder: string;
  readonly cacheBytes: number;
  /** By program; a missing program is fetched from its publisher, `null` means that nothing is fetched. */
  readonly mirrors: Readonly<Record<string, MirrorOrder | null>>;
}

export interface Origin {
  readonly program: string;
  readonly release: ReleaseFacts;
  /** For messages: an address without credentials. */
  readonly name: string;
  readonly publicKeys: string;
  url(place: ReleasePlace): string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns null if nothing may be fetched */
export function originOf(program: ProgramFacts, { mirrors }: ToolchainOrder): Origin | null {
  const mirror = mirrors[program.name];
  const { release } = program;
  if (mirror === null || release === null) return null;
  const base = mirror?.url;
  return {
    program: program.name,
    release,
    name: base ?? release.index.host,
    publicKeys: mirror?.publicKey ?? release.publicKey,
    url: ({ host, path }) => `${base ?? host}${path}`,
    headers: mirror?.authorization === undefined ? {} : { authorization: mirror.authorization },
  };
}
