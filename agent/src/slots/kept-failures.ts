/**
 * Remains of runs that failed for a reason of ours, for a person: the work folder of a run whose state may be
 * incomplete, and the spool folder of one that the service would not take. The newest are kept, for a while.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SpoolPaths } from '../spool/layout.ts';
import { forceRemove } from './remove-folder.ts';
import { keepAside } from './work-folder.ts';

export interface KeptFailuresOptions {
  readonly workFolder: string;
  readonly spoolFolder: string;
  /** Maximum number of each kind. */
  readonly limit: number;
  readonly days: number;
  readonly log: Readonly<Record<'info' | 'warn' | 'error', (data: object, text: string) => void>>;
}

const abandonedName = 'given-up';
/** Of states that the service refused; they are never removed automatically. */
export const refusedStatesName = 'refused-states';
const dayMilliseconds = 86_400_000;

/** Moves the folder of an attempt to where no agent continues it. @returns where it is now */
export function setAsideSpool({ folder }: Pick<SpoolPaths, 'folder'>): string {
  const parent = join(dirname(dirname(folder)), abandonedName);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const kept = join(parent, basename(folder));
  keepAside(folder, kept);
  return kept;
}

/** Logs what is kept. */
export function logKeptFailures(options: KeptFailuresOptions): void {
  const folders = kindsOf(options).flat();
  const states = foldersIn(join(options.spoolFolder, refusedStatesName));
  if (folders.length > 0 || states.length > 0)
    options.log.warn(
      { folders, states },
      'folders and states of runs that failed are kept for a person; remove what no one needs',
    );
}

/** Removes what is beyond the limit or too old. A failure is logged: the next time tries again. */
export async function removeOldFailures(options: KeptFailuresOptions): Promise<void> {
  const { limit, days, log } = options;
  const oldest = Date.now() - days * dayMilliseconds;
  for (const kind of kindsOf(options))
    for (const [index, folder] of kind.entries()) {
      if (index < limit && keptAt(folder) >= oldest) continue;
      try {
        await forceRemove(folder);
        log.info({ folder }, 'the kept folder of a failed run is removed');
      } catch (error) {
        log.error({ err: error, folder }, 'cannot remove the kept folder of a failed run');
      }
    }
}

/** Newest first. */
function kindsOf({ workFolder, spoolFolder }: KeptFailuresOptions): string[][] {
  return [
    foldersIn(workFolder).filter((path) => /\.kept-[^/]+$/.test(path)),
    foldersIn(join(spoolFolder, abandonedName)),
  ].map((paths) => paths.sort((left, right) => keptAt(right) - keptAt(left)));
}

function foldersIn(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent).map((name) => join(parent, name));
}

function keptAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
