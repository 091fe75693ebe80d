/** From where one tool is fetched here: its publisher, or a mirror that a setting names. */
import type { ProgramFacts, ReleaseFacts, ReleasePlace } from '#protocol/tools/tool.ts';

/** As a runner is told; it is handed over in memory only. */
export interface MirrorOrder {
  /** Address without credentials and without a slash at its end. */
  readonly url?: string;
  /** Value of the header `authorization`. */
  readonly authorization?: string;
  /** Armored public keys that count instead of the publisher's. */
  readonly publicKey?: string;
}

/** What a runner may fetch and where it is kept. */
export interface ToolchainOrder {
  /** Absolute path of the cache; the agent's, and readable for the users of runs. */
  readonly cacheFolder: string;
  readonly cacheBytes: number;
  /**
   * By program; a program that is missing here is fetched from its publisher, `null` says that nothing is
   * fetched.
   */
  readonly mirrors: Readonly<Record<string, MirrorOrder | null>>;
}

export interface Origin {
  readonly program: string;
  readonly release: ReleaseFacts;
  /** As messages name it: an address without credentials. */
  readonly name: string;
  readonly publicKeys: string;
  url(place: ReleasePlace): string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns null where nothing is to be fetched */
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
