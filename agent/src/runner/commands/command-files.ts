/** The files that commands of a driver need, and those that they leave: captured output, and saved plans. */
import { constants } from 'node:buffer';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { endRest, sizeOf } from '../../attempt/run-command.ts';
import { type Command, inputs, type PhaseCaptures as ReadCaptures } from '../../drivers/interface/command.ts';
import { lineSplitter } from '../../drivers/interface/lines.ts';
import { RunFailure } from '../../processes/failure.ts';
import { limitSettings } from '../../processes/stop-watch.ts';
import { packFiles, unpackFiles } from '../../slots/packed-files.ts';
import { sealPlan, sealPlanFolder } from '../../slots/work-folder.ts';
import type { RunnerAttempt } from './runner-attempt.ts';

/** Captures of the commands of a phase, in addition to its inputs. */
export type Captures = Map<string, Uint8Array>;

/** Writes the files that a command needs. */
export async function writeNeeded(
  { tree, folders }: AttemptContext,
  command: Command,
  captures: ReadCaptures,
): Promise<void> {
  for (const { name, content } of command.writes?.(captures) ?? [])
    await tree.write(folders.temporary, name, content);
}

const foundBytes = 50_000_000;
/** No line that a command looks for is longer. */
const foundLineBytes = 16_384;

/**
 * Captures the lines of a log, from an offset on, that a command looks for.
 * @throws RunFailure if there are too many to be kept
 */
export async function findLines(
  { finds, label }: Command,
  log: string,
  from: number,
  captures: Captures,
): Promise<void> {
  if (finds === undefined) return;
  const found: string[] = [];
  let bytes = 0;
  const take = lineSplitter(foundLineBytes, (line) => {
    if (bytes > foundBytes || !finds.pattern.test(line)) return;
    bytes += Buffer.byteLength(line) + 1;
    found.push(line);
  });
  if (sizeOf(log) > from)
    for await (const piece of createReadStream(log, { start: from })) take(piece as Buffer);
  take(Buffer.from('\n'));
  if (bytes > foundBytes)
    throw new RunFailure(`${label} printed more than ${foundBytes / 1e6} MB of lines that have to be read`);
  captures.set(finds.as, Buffer.from(found.join('\n')));
}

/** Larger files are cut off nowhere else: a run may write anything under the name. */
const collectedBytes = 256_000_000;

/** Captures the file that a command was to write. */
export async function collect(attempt: AttemptContext, command: Command, captures: Captures): Promise<void> {
  if (command.collects === undefined) return;
  const { file, as } = command.collects;
  const bytes = await attempt.tree
    .read(dirname(file), basename(file), collectedBytes)
    .catch((error: Error) => {
      throw new RunFailure(`what ${command.label} wrote cannot be read: ${error.message}`);
    });
  if (bytes === null) captures.delete(as);
  else captures.set(as, bytes);
}

/** @throws RunFailure for more than a JavaScript text can have */
export function readCapture(file: string, label: string): Uint8Array {
  const bytes = sizeOf(file);
  if (bytes <= constants.MAX_STRING_LENGTH) return readFileSync(file);
  const megabytes = (size: number) => Math.floor(size / 1e6);
  throw new RunFailure(
    `${label} printed ${megabytes(bytes)} MB, and at most ${megabytes(constants.MAX_STRING_LENGTH)} MB can be read: divide the configuration into several environments`,
    { result: 'failed', failedCommand: label },
  );
}

/** A single copy is shown, hashed and kept, which nothing of the run can change any more. */
export async function sealMade(attempt: RunnerAttempt, file: string, captures: Captures): Promise<void> {
  const { folders, tree, order, driver } = attempt;
  const name = basename(file);
  const copy = attempt.spool.scratchFile(name);
  await endRest(attempt);
  if (driver.savedPlan?.isFolder === true) {
    const packed = packFiles(await readFolder(attempt, name));
    writeFileSync(copy, packed, { mode: 0o600 });
    captures.set(inputs.saved, packed);
    // Unpacking refuses paths that leave the folder: the names come from a process that the run can reach.
    return sealPlanFolder(folders, name, unpackFiles(packed), order.slotUid);
  }
  const bytes = planLimit(attempt.job);
  const size = await tree.copyOut(folders.plan, name, copy, { bytes, stop: attempt.stop });
  if (size === null)
    throw new RunFailure('the plan file is not there after the plan', { result: 'internal' });
  if (size > bytes) throw planTooLarge(attempt.job);
  if (driver.savedPlan?.isRead === true) captures.set(inputs.saved, readCapture(copy, driver.type));
  sealPlan(folders, name, copy, order.slotUid);
}

/** Of a folder of plans: of all tools, none writes that many or large files. */
const [planFiles, planFileBytes] = [10_000, 512_000_000];

/** Maximum size of a plan: what can be transferred to its apply, if there is one. */
function planLimit({ phase, type, limits }: Job): number {
  const isTransferred = phase === 'plan' && !planOnlyTypes.includes(type);
  return isTransferred ? limits.travelBytes : Math.max(limits.travelBytes, planFileBytes);
}

function planTooLarge(job: Job): RunFailure {
  const limit = planLimit(job);
  const advice =
    limit === job.limits.travelBytes
      ? `, which is what can be transferred to its apply: divide the configuration into several environments, or raise ${limitSettings.travelBytes}`
      : ': divide the configuration into several environments';
  return new RunFailure(`the plan has more than ${Math.ceil(limit / (1024 * 1024))} MB${advice}`);
}

/**
 * All files below a name in the folder of the plan, by their paths below it; a single file is `plan`. They are in
 * memory: together, they have no more bytes than may be transferred.
 */
async function readFolder(
  { folders, tree, stop, job }: Pick<RunnerAttempt, 'folders' | 'tree' | 'stop' | 'job'>,
  name: string,
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  let left = planLimit(job);
  const read = async (path: string) => {
    stop.throwIfStopped();
    const most = Math.min(planFileBytes, left);
    const bytes = await tree.read(folders.plan, path, most).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EFBIG') throw error;
      throw planTooLarge(job);
    });
    left -= bytes?.length ?? 0;
    return bytes ?? new Uint8Array();
  };
  if ((await tree.kind(folders.plan, name)) === 'file') return files.set('plan', await read(name));
  const open = [''];
  for (let folder = open.shift(); folder !== undefined; folder = open.shift())
    for (const each of await tree.list(folders.plan, join(name, folder))) {
      const path = join(folder, each);
      const kind = await tree.kind(folders.plan, join(name, path));
      if (kind === 'folder') open.push(path);
      else if (kind === 'file') files.set(path, await read(join(name, path)));
      if (files.size + open.length > planFiles)
        throw new RunFailure(`the plan consists of more than ${planFiles} files`, { result: 'failed' });
    }
  if (files.size === 0)
    throw new RunFailure('the folder of plans is empty after the plan', { result: 'internal' });
  return files;
}
