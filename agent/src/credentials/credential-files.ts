/**
 * The files of a run's credentials: in a folder of the agent that the run can read and not change, and only as long as
 * the phase lasts. Tokens that end earlier are replaced by those that follow them.
 */
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  for (const { name, content } of files) write(join(folder, name), content, slotUid);
  openTo(folder, 0o550, slotUid);
}

function write(file: string, content: string, slotUid: number | null): void {
  writeFileSync(file, content, { mode: 0o400, flag: 'wx' });
  openTo(file, 0o440, slotUid);
}

/**
 * Replaces the files of a run when their content ends, at once those whose time has come already.
 * @returns what ends it
 */
export function renewCredentialFiles(
  { credentials: folder }: WorkFolderPaths,
  { delivered }: Pick<Job, 'delivered'>,
  slotUid: number | null,
): Disposable {
  const renew = (name: string, content: string) => {
    const next = join(folder, `.${name}.next`);
    try {
      rmSync(next, { force: true });
      write(next, content, slotUid);
      renameSync(next, join(folder, name));
    } catch {
      // The run keeps what it has; a tool that needs more says so itself.
    }
  };
  const timers = (delivered?.files ?? []).flatMap(({ name, later = [] }) => {
    const now = Date.now();
    const due = later.findLast(({ from }) => from <= now);
    if (due !== undefined) renew(name, due.content);
    return later
      .filter(({ from }) => from > now)
      .map(({ from, content }) => setTimeout(() => renew(name, content), from - now).unref());
  });
  return { [Symbol.dispose]: () => timers.forEach((timer) => clearTimeout(timer)) };
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
