/**
 * The step `source:unpack`: uploaded code. Its entries are checked while they are copied to a new archive,
 * which is then unpacked with the run's rights.
 */
import { rmSync } from 'node:fs';
import { posix } from 'node:path';
import { sourceStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import { limitSettings } from '../../processes/stop-watch.ts';
import { type ArchiveEntry, ArchiveWriter, isWritable, readArchive } from './archive-entries.ts';
import { runTar } from './tree-archive.ts';

const step = sourceStep('remotePlan');
const maxEntries = 100_000;

/** @throws RunFailure that names the entry that must not be unpacked */
export async function unpackSourceStep(attempt: AttemptContext): Promise<void> {
  await attempt.steps.run(step, async () => {
    const { archive } = attempt.job.source;
    const checked = attempt.spool.scratchFile('source.tar');
    rmSync(checked, { force: true });
    const { inputSource } = attempt.spool;
    const entries = await copyChecked(inputSource, checked, attempt.job.limits.travelBytes);
    attempt.steps.log(
      step,
      `Unpacking the uploaded code: ${entries} entries, ${archive?.bytes ?? 0} bytes compressed, SHA-256 ${archive?.sha256 ?? ''}`,
    );
    await unpack(attempt, checked);
    rmSync(checked);
    await checkPath(attempt);
  });
}

/**
 * Checks every entry of an uploaded archive and copies it to a plain one.
 * @param target absolute path of the copy, a new file
 * @param limitBytes limit of the archive's unpacked size
 * @returns the number of entries
 * @throws RunFailure that names the first entry that leads out of the folder, or the limit that is exceeded
 */
async function copyChecked(file: string, target: string, limitBytes: number): Promise<number> {
  const files = new Set<string>();
  const links = new Set<string>();
  const copy = new ArchiveWriter(target);
  let count = 0;
  try {
    for await (const entry of readArchive(file, limitBytes)) {
      if (++count > maxEntries) throw new Error(`it has more than ${maxEntries} entries`);
      const reason = problemOf(entry, files, links);
      if (reason !== null) throw new Error(`entry ${JSON.stringify(entry.name)} ${reason}`);
      const name = plainName(entry.name);
      if (entry.kind === 'symbolic link') links.add(name);
      if (entry.kind === 'file') files.add(name);
      if (isWritable(entry)) await copy.add(entry);
    }
    await copy.finish();
  } catch (error) {
    await copy.abandon();
    const { message } = error as Error;
    const hint = message.startsWith('it unpacks to more') ? ` (setting ${limitSettings.travelBytes})` : '';
    throw new RunFailure(`the uploaded archive is refused: ${message}${hint}`);
  }
  return count;
}

function plainName(name: string): string {
  return posix.normalize(name).replace(/\/$/, '');
}

/** Why an entry must not be unpacked; null if it may be. */
function problemOf(
  entry: ArchiveEntry,
  files: ReadonlySet<string>,
  links: ReadonlySet<string>,
): string | null {
  const { kind, target } = entry;
  if (isOutside(entry.name)) return 'leads out of the folder';
  const name = plainName(entry.name);
  const above = name.split('/').map((_, index, parts) => parts.slice(0, index).join('/'));
  if (above.some((folder) => links.has(folder))) return 'is below a symbolic link';
  // A later entry of the same name could be written through the link.
  if (links.has(name)) return 'occurs twice, first as a symbolic link';
  if (kind === 'other') return 'is not a file, folder or link';
  if (kind !== 'file' && entry.bytes > 0) return `has content, although it is a ${kind}`;
  if (kind === 'hard link' && !files.has(plainName(target)))
    return `is a link to ${JSON.stringify(target)}, which is not an earlier file of the archive`;
  // It may lead anywhere, as in a clone: nothing is unpacked through it, and it is not followed out of the code.
  if (kind === 'symbolic link' && (!target || target.includes('\0'))) return 'is a link without a target';
  return null;
}

function isOutside(name: string): boolean {
  return name === '' || name.includes('\0') || name.startsWith('/') || name.split('/').includes('..');
}

async function unpack(attempt: AttemptContext, archive: string): Promise<void> {
  const args = ['--extract', '--file=-', '--no-same-owner', '--no-same-permissions'];
  const end = await runTar(attempt, step, [...args, `--directory=${attempt.folders.tree}`], {
    inputFrom: archive,
  });
  if (end.exitCode !== 0)
    throw new RunFailure(`the uploaded archive cannot be unpacked: ${end.output().trim()}`, {
      result: 'failed',
      failedCommand: 'tar',
    });
}

async function checkPath(attempt: AttemptContext): Promise<void> {
  const { path } = attempt;
  if (path === '' || (await attempt.tree.kind(attempt.folders.tree, path)) === 'folder') return;
  throw new RunFailure(
    `path ${JSON.stringify(path)} is not a folder of the uploaded archive: specify one of its folders, or none`,
  );
}
