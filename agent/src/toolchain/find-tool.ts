/** Finds the program of the version that a run requests, and fetches it if necessary. */
import { programFacts } from '#protocol/tools/index.ts';
import {
  chooseTool,
  type RequestedVersion,
  type RequiredVersion,
  type ToolsThere,
  whatIsThere,
} from './choose-tool.ts';
import { type FetchContext, ReleaseProblem } from './fetch-context.ts';
import { fetchRelease, takeKept } from './fetch-release.ts';
import { platformFor } from './python.ts';
import { readReleaseIndex } from './release-index.ts';
import { indicesFolder, keptVersions, type ReleaseName } from './tool-cache.ts';
import { originOf, type ReleaseOrigin, type ToolchainOrder } from './tool-mirror.ts';

export interface ToolRequest {
  /** The version of the program. */
  readonly name: string;
  readonly wanted: RequestedVersion;
  readonly onPath: ToolsThere['onPath'];
  /** The constraints of the code; called only if they determine the version. */
  readonly required: () => Promise<readonly RequiredVersion[]>;
}

export interface FoundTool {
  /** Absolute path. */
  readonly program: string;
  readonly version: string;
  readonly from: 'PATH' | 'cache' | 'index';
  /** Notes on the choice, for a person. */
  readonly note: string | null;
}

/** No program can be used; the message is for a person. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
}

export interface ToolFinding extends Omit<FetchContext, 'order'> {
  /** Null: only the PATH is searched. */
  readonly order: ToolchainOrder | null;
}

/** @throws ToolProblem, the signal's reason, and errors of the file system */
export async function findTool(finding: ToolFinding, request: ToolRequest): Promise<FoundTool> {
  const { name, wanted, onPath } = request;
  const { order } = finding;
  const facts = programFacts(name);
  const origin = order && facts ? originOf(facts, order) : null;
  const required = wanted.kind === 'code' ? await request.required() : [];
  const platform = platformFor(facts?.release ?? null);
  const there = await collectVersions(finding, request, origin, platform);
  const choice = chooseTool(name, wanted, there, required);
  if ('problem' in choice) throw new ToolProblem(choice.problem);
  const { version, from, note } = choice;
  if (note !== null) finding.log(`${note}.`);
  if (from === 'PATH' && onPath) return { program: onPath.path, version: onPath.version, from, note };
  const release = { program: name, version, platform };
  const program = await obtain({ ...finding, order: order! }, origin, release, from, wanted, there);
  return { program, version, from, note };
}

/** Collects the available versions; fetches the index only if it matters. */
async function collectVersions(
  { order, signal, bounds }: ToolFinding,
  { name, wanted, onPath }: ToolRequest,
  origin: ReleaseOrigin | null,
  platform: string,
): Promise<ToolsThere> {
  const cached = order ? await keptVersions(order.cacheFolder, name, platform) : [];
  const isOnPath = wanted.kind === 'any' && onPath !== null;
  const isIndexNeeded = origin !== null && wanted.kind !== 'exact' && !isOnPath;
  const index =
    isIndexNeeded && order
      ? await readReleaseIndex(origin, platform, indicesFolder(order.cacheFolder), signal, bounds)
      : null;
  return {
    onPath,
    cached,
    index: index ?? (origin === null ? null : { versions: [] }),
    indexName: origin?.name ?? '',
  };
}

async function obtain(
  context: FetchContext,
  origin: ReleaseOrigin | null,
  release: ReleaseName,
  from: FoundTool['from'],
  wanted: RequestedVersion,
  there: ToolsThere,
): Promise<string> {
  const { program: name, version } = release;
  try {
    const kept = from === 'cache' ? await takeKept(context, release) : null;
    if (kept !== null) return kept;
    if (origin === null)
      throw new ReleaseProblem(
        'the program in the tool cache was changed or removed, and nothing is fetched here',
      );
    return await fetchRelease(context, origin, release);
  } catch (error) {
    if (!(error instanceof ReleaseProblem)) throw error;
    const reason = 'by' in wanted ? `(requested by ${wanted.by})` : '(the latest)';
    const here = whatIsThere(name, { ...there, index: null }).replace(/, and nothing is fetched here$/, '');
    throw new ToolProblem(
      `${name} ${version} ${reason} could not be obtained: ${error.message}. ${here[0]!.toUpperCase()}${here.slice(1)}`,
      {
        cause: error,
      },
    );
  }
}
