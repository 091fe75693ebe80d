/** For tests: finds tools with a mirror and a cache of their own. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { parseRequestedVersion, type RequiredVersion } from '../../src/toolchain/choose-tool.ts';
import { type FoundTool, findTool, type ToolFinding } from '../../src/toolchain/find-tool.ts';
import type { MirrorOrder, ToolchainOrder } from '../../src/toolchain/tool-mirror.ts';
import { type Release, startToolMirror, type ToolMirror } from '../tool-mirror.ts';

export interface FinderSetup {
  readonly mirror: ToolMirror;
  readonly order: ToolchainOrder;
  readonly logged: string[];
  find(wanted: string | undefined, options?: FindOptions): Promise<FoundTool>;
  /** The contents of the cache, including unfinished work. */
  releases(): string[];
}

interface FindOptions {
  readonly onPath?: { version: string; path: string };
  readonly required?: readonly RequiredVersion[];
  readonly order?: Partial<ToolchainOrder>;
  readonly signal?: AbortSignal;
  readonly bounds?: ToolFinding['bounds'];
}

interface SetupOptions {
  readonly program?: string;
  readonly authorization?: string;
}

/** Removes everything after the test. */
export async function createFinder(
  t: TestContext,
  releases: readonly (Release | string)[],
  { program = 'terraform', authorization }: SetupOptions = {},
): Promise<FinderSetup> {
  const folder = mkdtempSync(join(tmpdir(), 'tools-'));
  const all = releases.map((one) => (typeof one === 'string' ? { version: one } : one));
  const mirror = await startToolMirror(program, all, authorization === undefined ? {} : { authorization });
  t.after(async () => {
    await mirror[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const cacheFolder = join(folder, 'cache');
  const own: MirrorOrder = {
    url: mirror.url,
    publicKey: mirror.publicKey,
    ...(authorization === undefined ? {} : { authorization }),
  };
  const order: ToolchainOrder = { cacheFolder, cacheBytes: 1e9, mirrors: { [program]: own } };
  const logged: string[] = [];
  return {
    mirror,
    order,
    logged,
    find: (
      wanted,
      { onPath, required = [], order: changes = {}, signal = new AbortController().signal, bounds } = {},
    ) =>
      findTool(
        {
          order: { ...order, ...changes },
          signal,
          log: (text) => void logged.push(text),
          ...(bounds ? { bounds } : {}),
        },
        {
          name: program,
          wanted: parseRequestedVersion(wanted, 'terraformVersion'),
          onPath: onPath ?? null,
          required: async () => required,
        },
      ),
    releases: () =>
      existsSync(join(cacheFolder, 'releases')) ? readdirSync(join(cacheFolder, 'releases')) : [],
  };
}
