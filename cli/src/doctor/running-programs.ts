/** Services and agents that run on this machine, and the folders that they use. Linux only. */
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CommandEnvironment } from '../session/settings.ts';

export interface RunningProgram {
  readonly pid: number;
  readonly kind: 'service' | 'agent';
  readonly isRoot: boolean;
  /** Its settings of folders as absolute paths, and nothing else; null: this user cannot read them. */
  readonly environment: CommandEnvironment | null;
}

const folderSettings = [
  'ENVARIUM_DATA_DIR',
  'ENVARIUM_SPOOL_DIR',
  'ENVARIUM_WORK_DIR',
  'ENVARIUM_TOOL_CACHE_DIR',
  'ENVARIUM_PROVIDER_CACHE_DIR',
  'ENVARIUM_SEALING_KEY_FILE',
] as const;

const defaults = {
  service: { ENVARIUM_DATA_DIR: './data' },
  agent: { ENVARIUM_SPOOL_DIR: './spool' },
} as const;

/** The strings of a file such as /proc/1/cmdline. */
async function stringsOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\0').filter((text) => text !== '');
}

/** Neither the launcher nor the processes that an agent starts with a role as their last argument. */
function kindOf(commandLine: readonly string[]): RunningProgram['kind'] | null {
  const isNode = /(^|\/)node[\w.-]*$/.test(commandLine[0] ?? '');
  if (!isNode || commandLine.some((word) => word.endsWith('launch.mjs'))) return null;
  const program = commandLine.at(-1) ?? '';
  if (/(^|\/)(server\/src\/main\.ts|programs\/\w+\/server\.mjs)$/.test(program)) return 'service';
  return /(^|\/)(agent\/src\/main\.ts|programs\/\w+\/agent\.mjs|envarium-agent\.mjs)$/.test(program)
    ? 'agent'
    : null;
}

async function environmentOf(folder: string, kind: RunningProgram['kind']): Promise<CommandEnvironment> {
  const all: Record<string, string> = { ...defaults[kind] };
  for (const text of await stringsOf(join(folder, 'environ'))) {
    const end = text.indexOf('=');
    if (end < text.length - 1) all[text.slice(0, end)] = text.slice(end + 1);
  }
  const place = await readlink(join(folder, 'cwd'));
  const found = folderSettings.flatMap((name) => (all[name] ? [[name, resolve(place, all[name])]] : []));
  // Only whether there is one: it may contain a password.
  return { ...Object.fromEntries(found), ...(all.DATABASE_URL ? { DATABASE_URL: 'is set' } : {}) };
}

/** @returns null for other programs, and for those of containers, whose paths are not those of this machine */
async function readProgram(processes: string, pid: string): Promise<RunningProgram | null> {
  const folder = join(processes, pid);
  const kind = kindOf(await stringsOf(join(folder, 'cmdline')));
  if (kind === null) return null;
  const about = { pid: Number(pid), kind, isRoot: (await stat(folder)).uid === 0 };
  try {
    const namespace = join('ns', 'pid');
    if ((await readlink(join(folder, namespace))) !== (await readlink(join(processes, 'self', namespace))))
      return null;
    return { ...about, environment: await environmentOf(folder, kind) };
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return { ...about, environment: null };
  }
}

/** @param processes where the system lists its processes; without it, none are found */
export async function findRunningPrograms(processes = '/proc'): Promise<RunningProgram[]> {
  const names = await readdir(processes).catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      // A process may end in the meantime.
      .map((pid) => readProgram(processes, pid).catch(() => null)),
  );
  return found.filter((program) => program !== null);
}
