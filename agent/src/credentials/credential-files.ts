/**
 * The files of a run's credentials: in a folder of the agent that the run can read and not change, and only as long as
 * the phase lasts.
 */
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import type { WorkFolderPaths } from '../slots/work-folder.ts';

/** @param slotUid the run's user, whose group is the only one that can read them */
export function writeCredentialFiles(
  { credentials: folder }: WorkFolderPaths,
  { delivered }: Pick<Job, 'delivered'>,
  slotUid: number | null,
): void {
  const { files = [] } = delivered ?? {};
  rmSync(folder, { recursive: true, force: true });
  if (files.length === 0) return;
  mkdirSync(folder, { mode: 0o700 });
  for (const { name, content } of files) {
    const file = join(folder, name);
    writeFileSync(file, content, { mode: 0o400, flag: 'wx' });
    openTo(file, 0o440, slotUid);
  }
  openTo(folder, 0o550, slotUid);
}

function openTo(path: string, mode: number, slotUid: number | null): void {
  if (slotUid === null) return;
  chownSync(path, process.getuid?.() ?? 0, slotUid);
  chmodSync(path, mode);
}

/** Paths of what commands of the tool may read. */
export function readableCredentials(
  { credentials }: WorkFolderPaths,
  { delivered }: Pick<Job, 'delivered'>,
): string[] {
  return (delivered?.files.length ?? 0) > 0 ? [credentials] : [];
}
