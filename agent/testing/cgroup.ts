/** For tests: a control group (cgroup v2) as an operator would delegate it. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

let number = 0;

/** The first place where this process may create groups, and end them. */
const place = readFileSync('/proc/mounts', 'utf8')
  .split('\n')
  .map((line) => line.split(' '))
  .filter(([, , type]) => type === 'cgroup2')
  .map(([, folder = '']) => folder)
  .find(isUsable);

export const withCgroup = { skip: place === undefined ? 'needs a cgroup v2 that it may write to' : false };

/** @returns a folder whose groups are ended and removed after the test */
export function delegatedFolder(t: TestContext): string {
  const folder = nameIn(place ?? '');
  mkdirSync(folder);
  t.after(() => remove(folder));
  return folder;
}

/** The names of the groups in a folder. */
export function groupsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function nameIn(folder: string): string {
  return join(folder, `envarium-test-${process.pid}-${++number}`);
}

function isUsable(folder: string): boolean {
  const tried = nameIn(folder);
  try {
    mkdirSync(tried);
  } catch {
    return false;
  }
  const hasKill = readdirSync(tried).includes('cgroup.kill');
  rmdirSync(tried);
  return hasKill;
}

function remove(folder: string): void {
  writeFileSync(join(folder, 'cgroup.kill'), '1');
  while (readFileSync(join(folder, 'cgroup.events'), 'utf8').includes('populated 1'));
  const removeBelow = (one: string): void => {
    for (const name of groupsIn(one)) removeBelow(join(one, name));
    rmdirSync(one);
  };
  removeBelow(folder);
}
