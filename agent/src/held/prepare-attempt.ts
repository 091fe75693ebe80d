/** Writes an attempt's spool folder: it is complete on disk before its runner starts. */
import { createHash, type Hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { ServerRefusal } from '../connection/refusals.ts';
import type { KeptTree } from '../slots/kept-trees.ts';
import { isTreeKept, workFolderPaths } from '../slots/work-folder.ts';
import { attemptFolderName, type SpoolPaths, spoolPaths } from '../spool/layout.ts';
import { linkFile, removeFolder, syncFolder, writeNew, writeWhole } from '../spool/write-file.ts';

export interface Preparation {
  readonly connection: ServerConnection;
  /** The parent of the attempts' folders. */
  readonly attemptsFolder: string;
  readonly workFolder: string;
  readonly slotUid: number | null;
  readonly job: Job;
  /** The kept tree of its plan, which is not in its place yet; absent or null: there is none. */
  readonly tree?: KeptTree | null;
  readonly signal: AbortSignal;
}

export interface PreparedAttempt {
  readonly paths: SpoolPaths;
  /** Why the attempt cannot run although it was claimed; null if it can. */
  readonly refusal: string | null;
}

/** The temporary name of a folder; an attempt left under such a name was never started. */
function unfinishedName(name: string): string {
  return `.new-${name}`;
}

/**
 * Fetches what the job needs and writes its folder durably.
 * @throws a ServerRefusal if the claim no longer belongs to this agent; the signal's reason; file system
 * errors
 */
export async function prepareAttempt(preparation: Preparation): Promise<PreparedAttempt> {
  const name = attemptFolderName(preparation.job.jobId, preparation.job.attempt);
  const building = spoolPaths(join(preparation.attemptsFolder, unfinishedName(name)));
  await removeFolder(building.folder);
  try {
    const refusal = await build(preparation, building);
    const finished = spoolPaths(join(preparation.attemptsFolder, name));
    await removeFolder(finished.folder);
    renameSync(building.folder, finished.folder);
    await syncFolder(preparation.attemptsFolder);
    return { paths: finished, refusal };
  } catch (error) {
    // It contains the run's secrets, and would occupy disk space forever.
    await removeFolder(building.folder);
    throw error;
  }
}

async function build(preparation: Preparation, paths: SpoolPaths): Promise<string | null> {
  makeFolders(paths);
  writeWhole(paths.contact, String(uptime()));
  const [refusal] = await Promise.all([
    writeInputs(preparation, paths),
    writeNew(paths.job, `${JSON.stringify(preparation.job)}\n`),
  ]);
  await Promise.all([syncFolder(paths.inputs), syncFolder(paths.folder)]);
  return refusal;
}

function makeFolders(paths: SpoolPaths): void {
  for (const folder of [paths.folder, paths.inputs, paths.steps, paths.states, paths.outputs])
    mkdirSync(folder, { mode: 0o700 });
}

async function writeInputs(preparation: Preparation, paths: SpoolPaths): Promise<string | null> {
  const { job, workFolder } = preparation;
  if (job.workFolder !== undefined && job.workFolder !== workFolder) {
    return `The plan was made below ${job.workFolder} but this agent works below ${workFolder}: set ENVARIUM_WORK_DIR to the same folder on all agents that share deployments.`;
  }
  try {
    const results = await Promise.all([
      writeState(preparation, paths),
      writePlan(preparation, paths),
      writeTree(preparation, paths),
      writeSource(preparation, paths),
    ]);
    return results.find((result) => result !== null) ?? null;
  } catch (error) {
    if (!(error instanceof ServerRefusal) || isAboutClaim(error)) throw error;
    return `The input of the run cannot be fetched from the service: ${error.message}`;
  }
}

function isAboutClaim({ status, code }: ServerRefusal): boolean {
  return status === 401 || code === 'fence_outdated' || code === 'epoch_replaced';
}

async function writeState(
  { connection, attemptsFolder, job, tree, signal }: Preparation,
  paths: SpoolPaths,
): Promise<string | null> {
  const current = job.state.current;
  if (!current) return null;
  const kept = previousPaths(attemptsFolder, job)?.inputState;
  const known = tree?.state ?? (kept && existsSync(kept) ? await readFile(kept) : null);
  const bytes = known ?? (await connection.getState(job, signal));
  const checked = sha256(bytes) === current.sha256 ? bytes : await connection.getState(job, signal);
  if (sha256(checked) !== current.sha256)
    return `The state received from the service does not match version ${current.stateVersionId}: its checksum differs.`;
  await writeNew(paths.inputState, checked);
  return null;
}

async function writePlan(
  { connection, attemptsFolder, job, tree, signal }: Preparation,
  paths: SpoolPaths,
): Promise<string | null> {
  // Tools that save no plan have no file of the approved one.
  if (job.phase !== 'apply' || job.approved?.parts.planFile === undefined) return null;
  const kept = previousPaths(attemptsFolder, job)?.outputPlan;
  if (tree?.plan) await writeNew(paths.inputPlan, tree.plan);
  else if (kept && existsSync(kept)) linkFile(kept, paths.inputPlan);
  else await connection.getBlob(job, 'plan', (bytes) => writeNew(paths.inputPlan, bytes), signal);
  return null;
}

/** A tree that this agent kept for the apply is reused in place. */
async function writeTree(
  { connection, job, signal, workFolder, slotUid, tree }: Preparation,
  paths: SpoolPaths,
): Promise<string | null> {
  if (job.phase !== 'apply' || tree) return null;
  const continues = job.approved?.continues;
  if (continues && isTreeKept(workFolderPaths(workFolder, job), continues, slotUid)) return null;
  await connection.getBlob(job, 'tree', (bytes) => writeNew(paths.inputTree, bytes), signal);
  return null;
}

/** Fetches uploaded code. */
async function writeSource(
  { connection, job, signal }: Preparation,
  paths: SpoolPaths,
): Promise<string | null> {
  const { archive } = job.source;
  if (archive === undefined) return null;
  const hash = createHash('sha256');
  await connection.getBlob(
    job,
    'source',
    async (bytes) => writeNew(paths.inputSource, hashed(bytes, hash)),
    signal,
  );
  return hash.digest('hex') === archive.sha256
    ? null
    : 'The code received from the service does not match the upload: its checksum differs.';
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

function previousPaths(attemptsFolder: string, job: Job): SpoolPaths | null {
  const continues = job.approved?.continues;
  return continues
    ? spoolPaths(join(attemptsFolder, attemptFolderName(continues.jobId, continues.attempt)))
    : null;
}
