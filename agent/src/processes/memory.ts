/**
 * Memory of this machine, within the limits of the control groups (v2) that this process is in. What the page cache uses
 * counts as available: the kernel gives it back.
 */
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { textOrEmpty } from './proc.ts';

/** Folders of the kernel; others are for tests. */
const kernel = { proc: '/proc', groups: '/sys/fs/cgroup' } as const;
export type KernelFolders = Readonly<Record<keyof typeof kernel, string>>;

/** A number in a file; undefined without one, as for `max`. */
function numberIn(file: string, name = ''): number | undefined {
  const [, number] = new RegExp(`^${name}\\s*(\\d+)`, 'm').exec(textOrEmpty(file)) ?? [];
  return number === undefined ? undefined : Number(number);
}

interface GroupMemory {
  readonly limit: number;
  readonly used: number;
}

function memoryOf(group: string): GroupMemory[] {
  const limits = ['memory.max', 'memory.high'].flatMap((file) => numberIn(join(group, file)) ?? []);
  const current = numberIn(join(group, 'memory.current'));
  if (limits.length === 0 || current === undefined) return [];
  const stat = join(group, 'memory.stat');
  const cache = (numberIn(stat, 'active_file') ?? 0) + (numberIn(stat, 'inactive_file') ?? 0);
  return [{ limit: Math.min(...limits), used: Math.max(0, current - cache) }];
}

/** The groups of this process that have a limit, with those above. */
function limitedGroups({ proc, groups }: KernelFolders): GroupMemory[] {
  const [, path = '/'] = /^0::(.*)$/m.exec(textOrEmpty(join(proc, 'self', 'cgroup'))) ?? [];
  const names = path.split('/').filter((name) => name !== '');
  return [groups, ...names.map((_, index) => join(groups, ...names.slice(0, index + 1)))].flatMap(memoryOf);
}

/** @returns bytes that this process and its children could use altogether */
export function totalMemory(folders: KernelFolders = kernel): number {
  return Math.min(totalmem(), ...limitedGroups(folders).map(({ limit }) => limit));
}

/** @returns bytes that this process and its children can still use */
export function availableMemory(folders: KernelFolders = kernel): number {
  const kibibytes = numberIn(join(folders.proc, 'meminfo'), 'MemAvailable:');
  const free = kibibytes === undefined ? freemem() : kibibytes * 1024;
  return Math.max(0, Math.min(free, ...limitedGroups(folders).map(({ limit, used }) => limit - used)));
}
