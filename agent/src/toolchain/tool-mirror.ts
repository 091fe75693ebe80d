/** From where one tool is fetched here: its publisher, or a mirror that a setting names. */
import type { Place, ToolSource } from './tool-sources.ts';

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
  readonly source: ToolSource;
  /** As messages name it: an address without credentials. */
  readonly name: string;
  readonly publicKeys: string;
  url(place: Place): string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns null where nothing is to be fetched */
export function originOf(source: ToolSource, { mirrors }: ToolchainOrder): Origin | null {
  const mirror = mirrors[source.program];
  if (mirror === null) return null;
  const base = mirror?.url;
  return {
    source,
    name: base ?? source.index.host,
    publicKeys: mirror?.publicKey ?? source.publicKey,
    url: ({ host, path }) => `${base ?? host}${path}`,
    headers: mirror?.authorization === undefined ? {} : { authorization: mirror.authorization },
  };
}
