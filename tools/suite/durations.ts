/** Duration of each test file in its last run on this machine, so that the longest can begin first. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../tree/repository.ts';

/** Seconds by file, relative to the root. */
export type Durations = ReadonlyMap<string, number>;

const store = join(root, '.cache', 'test-durations.json');

/** @returns nothing where no file has run yet, or the record is damaged */
export function readDurations(file = store): Durations {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>));
  } catch {
    return new Map();
  }
}

/** Adds to the record; files that no longer exist are dropped. */
export function recordDurations(durations: Durations, file = store): void {
  const all = new Map([...readDurations(file), ...durations]);
  const rounded = [...all]
    .filter(([name]) => existsSync(join(root, name)))
    .map(([name, seconds]) => [name, Math.round(seconds * 10) / 10] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rounded), null, 1)}\n`);
}

/** Seconds for each kilobyte of the files of a folder, measured roughly. */
const secondsPerKilobyte = { acceptance: 4, agent: 1, server: 1, other: 0.3 } as const;

/** An acceptance test starts a service, and some with five lines call a scenario that takes minutes. */
const leastOfAcceptance = 45;

/** Expected duration of a file: its last one, otherwise an estimate from its size. */
export function expectedSeconds(file: string, durations: Durations): number {
  const known = durations.get(file);
  if (known !== undefined) return known;
  const [room = ''] = file.split('/');
  const rate = room in secondsPerKilobyte ? secondsPerKilobyte[room as 'server'] : secondsPerKilobyte.other;
  const seconds = (statSync(join(root, file)).size / 1000) * rate;
  return room === 'acceptance' ? Math.max(leastOfAcceptance, seconds) : seconds;
}
