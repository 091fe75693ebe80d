/**
 * Finds what a changing command left after its runner was lost: its last state, and resources that it created
 * without recording them there.
 */
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { normalizePath } from '#guards/source-guards.ts';
import { sha256 } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { driverOf } from '../drivers/index.ts';
import type {
  Driver,
  ProgressEvent,
  StateCapability,
  StateFileCapability,
  StateReading,
} from '../drivers/interface/driver.ts';
import type { SeveralFiles } from '../drivers/interface/state-places.ts';
import { type FolderReader, type StateFiles, severalFiles } from '../runner/state/state-files.ts';
import { EventFile } from '../ship/event-file.ts';
import { listInside, openInside, readInside } from '../slots/closed-tree.ts';
import { type WorkFolderPaths, workFolderPaths } from '../slots/work-folder.ts';
import { isOwn } from '../slots/work-folder-owner.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { nullIfMissing, readNewestState, readProgressPlace } from '../spool/read-attempt.ts';
import { LatestEvents, resourceLimits, withShortTexts } from '../spool/resource-events.ts';
import { recordedIn, unrecordedResources } from '../spool/unrecorded-resources.ts';
import { writeDurably } from '../spool/write-file.ts';

export interface Leftovers {
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly workFolder: string;
}

/** Larger files are ignored: a run may leave any file under the state's name. */
const stateLimitBytes = 512_000_000;

/**
 * Copies the newest complete state into the spool and reads it. No process of the run may be alive.
 * @returns the resulting parts of the outcome
 */
export async function findLeftovers(leftovers: Leftovers): Promise<Partial<Outcome>> {
  const { paths, job } = leftovers;
  const driver = driverOf(job.tool);
  const capability = driver?.state;
  if (driver === undefined || capability === undefined) return {};
  const isThere = isOwn(workFolderPaths(leftovers.workFolder, job), job);
  if (capability.file !== undefined && isThere) await saveNewestState(leftovers, capability, capability.file);
  const events = await createdResources(leftovers, driver);
  const newest = await readNewestState(paths);
  const state = newest && readOrNull(capability, newest.bytes);
  const input = await readFile(paths.inputState).catch(nullIfMissing);
  const before = input && readOrNull(capability, input);
  return {
    ...(state?.isEncrypted ? { isStateOurs: true } : {}),
    ...(state && !state.isEncrypted
      ? {
          outputs: state.outputs,
          resources: state.resources,
          resourceCount: state.resourceCount,
          stateFileHash: state.hash,
          isStateOurs: true,
        }
      : {}),
    unrecorded: unrecordedResources(events, recordedIn(state), before),
  };
}

async function saveNewestState(
  { paths, job, workFolder }: Leftovers,
  capability: StateCapability,
  file: StateFileCapability,
): Promise<void> {
  const folders = workFolderPaths(workFolder, job);
  const tree = { list: async () => [], text: async () => null };
  const configurationFolder = join(folders.tree, normalizePath(job.source.path ?? ''));
  const context = {
    job,
    configurationFolder,
    stateFolder: folders.state,
    planFile: folders.planFile,
    temporaryFolder: folders.temporary,
    tree,
  };
  const known = await readNewestState(paths);
  const spooled = known && readOrNull(capability, known.bytes);
  let best = { serial: spooled?.serial ?? job.state.current?.serial ?? -1, bytes: null as Uint8Array | null };
  const several = file.several?.(context) ?? null;
  const places = { tree: folders.tree, state: folders.state, configuration: configurationFolder };
  const candidates =
    several === null
      ? await oneOf(places, file.fileName(context), file.rescueFile)
      : await joined(
          places,
          several,
          known?.bytes ?? (await readFile(paths.inputState).catch(nullIfMissing)),
        );
  for (const bytes of candidates) {
    const state = bytes && readOrNull(capability, bytes);
    if (state && state.serial > best.serial && hasSameLineage(job, state))
      best = { serial: state.serial, bytes };
  }
  if (best.bytes && job.state.current?.sha256 !== sha256(best.bytes))
    await writeDurably(join(paths.states, `${(known?.number ?? 0) + 1}.tfstate`), best.bytes);
}

interface LeftoverFolders {
  readonly tree: string;
  readonly state: string;
  readonly configuration: string;
}

async function oneOf(
  places: LeftoverFolders,
  name: string,
  rescueFile: string,
): Promise<(Uint8Array | null)[]> {
  return [
    await readInside(places.state, join(places.state, name), stateLimitBytes),
    await readInside(places.tree, join(places.configuration, rescueFile), stateLimitBytes),
  ];
}

/** Content of the files, followed by those that the tool could not store. */
async function joined(
  places: LeftoverFolders,
  several: SeveralFiles,
  before: Uint8Array | null,
): Promise<(Uint8Array | null)[]> {
  const stored = severalFiles(
    folderReader(
      (below) => listInside(places.state, below),
      (name) => readInside(places.state, join(places.state, name), stateLimitBytes),
    ),
    several,
    () => before,
  );
  const state = await readOnce(stored);
  const found = await several.rescued((folder) => listInside(places.configuration, folder));
  const paths = new Map(found.map(({ part, path }) => [part, join(places.configuration, path)]));
  const rescued = severalFiles(
    folderReader(
      async () => [...paths.keys()],
      (part) => readInside(places.tree, paths.get(part) ?? '', stateLimitBytes),
    ),
    several,
    () => state ?? before,
  );
  return [state, await readOnce(rescued)];
}

/**
 * Files that are not part of a state count as little as an incomplete one.
 * @throws an error of the file system
 */
async function readOnce(files: StateFiles): Promise<Uint8Array | null> {
  const bytes = await files.readIfNew();
  const { cause } = files.problem ?? {};
  if (cause instanceof Error && 'errno' in cause) throw cause;
  return bytes;
}

/** Nothing writes any more: a file is read once. */
function folderReader(list: FolderReader['list'], read: FolderReader['read']): FolderReader {
  return { list, read, stamp: async (name) => name };
}

function hasSameLineage(job: Job, state: StateReading): boolean {
  return job.state.current === undefined || job.state.current.lineage === state.lineage;
}

function readOrNull(capability: StateCapability, bytes: Uint8Array): StateReading | null {
  try {
    return capability.read(bytes);
  } catch {
    // Incomplete, or not a state.
    return null;
  }
}

/** The last event of each resource that was being created, up to a limit. */
async function createdResources(leftovers: Leftovers, driver: Driver): Promise<readonly ProgressEvent[]> {
  const latest = new LatestEvents();
  const take = (event: ProgressEvent) => event.action === 'create' && latest.add(event);
  await readEvents(leftovers.paths, take);
  await readProgress(leftovers, driver, take);
  return latest.all;
}

type TakeEvent = (event: ProgressEvent) => unknown;

/** Records of the runner about the progress of all changing commands. */
async function readEvents(paths: SpoolPaths, take: TakeEvent): Promise<void> {
  using file = new EventFile(paths.events, (event) => event);
  do {
    await file.fill();
    for (const event of file.pending) if (event.kind === 'resource') take(event);
    file.goTo(file.firstIndex + file.pending.length);
  } while (!file.isRead);
}

async function openOwn(folders: WorkFolderPaths, job: Job, file: string): Promise<FileHandle | null> {
  return isOwn(folders, job) ? openInside(folders.temporary, file) : null;
}

/**
 * Report of the last changing command, read at its source: the runner reads it from time to time, and may have
 * been killed before it had read everything.
 */
async function readProgress(
  { paths, job, workFolder }: Leftovers,
  { progress }: Driver,
  take: TakeEvent,
): Promise<void> {
  const place = readProgressPlace(paths);
  if (place === null || progress === undefined) return;
  const { eventFile, step, offset } = place;
  const fileReader = eventFile === undefined ? undefined : progress.fromFile?.();
  const reader = withShortTexts(fileReader ?? progress.fromLog(), job.secrets);
  await using file =
    eventFile !== undefined && fileReader !== undefined
      ? await openOwn(workFolderPaths(workFolder, job), job, eventFile)
      : await open(paths.stepLog(step)).catch(nullIfMissing);
  const start = fileReader === undefined ? offset : 0;
  const part = { start, end: start + resourceLimits.sourceBytes, autoClose: false };
  if (file !== null) for await (const bytes of file.createReadStream(part)) reader.read(bytes).forEach(take);
}
