import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../repository.ts';

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

/** Whether a package can be installed on a platform that the service supports. */
function isForUs({ os, cpu, libc }: Locked): boolean {
  const allows = (list: string | readonly string[] | undefined, values: readonly string[]) =>
    list === undefined || [list].flat().some((value) => values.includes(value));
  return allows(os, ['linux']) && allows(cpu, ['x64', 'arm64']) && allows(libc, ['glibc']);
}

test('the lockfile names no host: every registry that has the same bytes will do', () => {
  assert.deepEqual(
    packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
    [],
  );
});

test('every package for a supported platform has a version and an integrity', () => {
  assert.deepEqual(
    packages
      .filter(([, locked]) => isForUs(locked) && !(locked.version && locked.integrity))
      .map(([path]) => path),
    [],
  );
});

test('every optional package is locked: without it npm ci asks the registry and refuses', () => {
  const missing = packages.flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) =>
        !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
    ),
  );
  assert.deepEqual(missing, []);
});

test('every direct dependency is pinned to one version', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string> | undefined
  >;
  const all = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}),
  );
  assert.deepEqual(
    all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    [],
  );
});

test('every npm script becomes the launcher, so that a signal to npm reaches it and not a shell', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const wrong = Object.entries(scripts).filter(
    ([, script]) => !/^exec node tools\/launch\.mjs [\w./-]+\.ts$/.test(script),
  );
  assert.deepEqual(wrong, []);
});
