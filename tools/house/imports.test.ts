import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles, root, textOf } from '../tree/repository.ts';
import { type Import, importsOf, packageOf } from './imports.ts';
import { forTests, freeTypes, isForDevelopment, isForTests, rooms, serverOrder } from './rooms.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const roomOf = (file: string) => file.split('/')[0] ?? '';

/** Every import of every TypeScript file in the rooms. */
const imports: readonly (Import & { from: string })[] = repositoryFiles()
  .filter((file) => /\.tsx?$/.test(file) && roomOf(file) in rooms)
  .flatMap((from) => importsOf(from, textOf(from) ?? '', manifest.imports).map((one) => ({ ...one, from })));

const line = (one: { from: string; specifier: string }) => `${one.from} imports ${one.specifier}`;

test('every folder with TypeScript is a room of the import table', () => {
  const folders = new Set(
    repositoryFiles()
      .filter((file) => /\.tsx?$/.test(file) && file.includes('/'))
      .map(roomOf),
  );
  assert.deepEqual([...folders].filter((folder) => !(folder in rooms)).toSorted(), []);
});

test('a room imports only the rooms that the table allows', () => {
  const wrong = imports.filter(({ from, file }) => {
    // The manifest says which version this is; it belongs to no room.
    if (file === null || file === 'package.json') return false;
    const [own, other] = [roomOf(from), roomOf(file)];
    if (forTests.includes(file) && isForTests(from)) return false;
    return own !== other && file !== 'package.json' && !rooms[own]?.includes(other);
  });
  assert.deepEqual(wrong.map(line), []);
});

test('another room is reached by its alias where it has one, the own room by a relative path', () => {
  const aliased = new Set(Object.keys(manifest.imports).map((alias) => alias.slice(1).replace('/*', '')));
  const wrong = imports.filter(({ from, specifier, file }) => {
    if (file === null) return false;
    return roomOf(from) === roomOf(file)
      ? specifier.startsWith('#')
      : specifier.startsWith('.') && aliased.has(roomOf(file));
  });
  assert.deepEqual(wrong.map(line), []);
});

test('every import of our own names a file that exists', () => {
  const wrong = imports.filter(({ file }) => file !== null && !existsSync(join(root, file)));
  assert.deepEqual(wrong.map(line), []);
});

test('every package is declared, and those for development serve only tests and tools', () => {
  const wrong = imports.filter(({ from, specifier, isTypeOnly }) => {
    const name = packageOf(specifier);
    if (name === null || name in manifest.dependencies) return false;
    return !(name in manifest.devDependencies && (isTypeOnly || isForDevelopment(from)));
  });
  assert.deepEqual(wrong.map(line), []);
});

test('Node modules are imported with their prefix', () => {
  const bare = imports.filter(({ specifier }) =>
    /^(fs|path|os|crypto|child_process|http|https|net|stream|url|util|events)(\/|$)/.test(specifier),
  );
  assert.deepEqual(bare.map(line), []);
});

/**
 * The place of a file in the order of the server: the longest listed path that it is or is in; its folder where
 * none is listed; null outside of the server.
 */
function serverPart(file: string): string | null {
  if (!file.startsWith('server/src/')) return null;
  const path = file.slice('server/src/'.length);
  const parts = path.split('/');
  for (let length = parts.length; length > 0; length--) {
    const part = parts.slice(0, length).join('/');
    if (serverOrder.includes(part)) return part;
  }
  return posix.dirname(path);
}

test('every folder of the server has a place in the order', () => {
  const parts = repositoryFiles().filter(
    (file) => file.startsWith('server/src/') && file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const unknown = new Set(
    parts.map((file) => serverPart(file) ?? '').filter((part) => !serverOrder.includes(part)),
  );
  assert.deepEqual([...unknown], [], 'add them to serverOrder in tools/house/rooms.ts');
});

test('everything that the tables of rooms list exists', () => {
  const missing = [
    ...Object.keys(rooms),
    ...forTests,
    ...[...serverOrder, ...freeTypes].map((part) => `server/src/${part}`),
  ].filter((path) => !existsSync(join(root, path)));
  assert.deepEqual(missing, [], 'remove them from tools/house/rooms.ts');
});

/** Files of one folder that a reader of it has to know; more are a sign that it holds several rooms. */
const mostFilesInFolder = 25;

test('a folder holds at most 25 files, tests apart', () => {
  const counts = new Map<string, number>();
  for (const file of repositoryFiles()) {
    if (!/\.(tsx?|mjs)$/.test(file) || file.endsWith('.test.ts') || !file.includes('/')) continue;
    const folder = posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  assert.ok(counts.size > 20);
  const wide = Array.from(counts).filter(([, files]) => files > mostFilesInFolder);
  assert.deepEqual(wide, [], 'give a part of the folder a folder of its own');
});

/** Packages that no file imports, each with the reason why it is a dependency. */
const notImported: Readonly<Record<string, RegExp>> = {
  'the formatter, the linter and the type checker are programs':
    /^(@biomejs\/biome|oxlint|oxlint-tsgolint|typescript|kysely-codegen)$/,
  'types of a package that is used': /^@types\//,
};

test('every dependency is used', () => {
  const used = new Set(imports.map(({ specifier }) => packageOf(specifier)));
  const unused = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)].filter(
    (name) => !used.has(name) && !Object.values(notImported).some((pattern) => pattern.test(name)),
  );
  assert.deepEqual(unused, [], 'remove them from package.json');
});

test('a part of the server imports only earlier parts', () => {
  const wrong = imports.filter(({ from, file, isTypeOnly }) => {
    const [own, other] = [serverPart(from), file === null ? null : serverPart(file)];
    if (file === null || own === null || other === null || own === other || from.endsWith('.test.ts'))
      return false;
    if (isTypeOnly && freeTypes.some((free) => file.endsWith(`/${free}`))) return false;
    return serverOrder.indexOf(other) > serverOrder.indexOf(own);
  });
  assert.deepEqual(wrong.map(line), []);
});

test('rows refuse nothing: what is not found is undefined, and the caller says so', () => {
  const wrong = imports.filter(
    ({ from, file }) => from.startsWith('server/src/rows/') && file === 'server/src/ground/errors.ts',
  );
  assert.deepEqual(wrong.map(line), []);
});

test('routes are imported only by the door of their family', () => {
  const wrong = imports.filter(({ from, file }) => {
    if (file === null || !file.startsWith('server/src/') || !file.endsWith('-routes.ts')) return false;
    return !(from.endsWith('.test.ts') || from.endsWith('/family.ts'));
  });
  assert.deepEqual(wrong.map(line), []);
});

/** Imports that exist at run time: neither of types only, nor in tests and what serves them. */
const running = imports.filter(
  ({ from, file, isTypeOnly }) => file !== null && !isTypeOnly && !isForTests(from),
);

/** Folders that import each other at run time, as `one and other`. */
function pairsOfFolders(): string[] {
  const edges = new Set<string>();
  for (const { from, file } of running) {
    const [own, other] = [posix.dirname(from), posix.dirname(file ?? '')];
    if (own !== other) edges.add(`${own} ${other}`);
  }
  return [...edges]
    .map((edge) => edge.split(' ') as [string, string])
    .filter(([own, other]) => own < other && edges.has(`${other} ${own}`))
    .map((pair) => pair.join(' and '));
}

/** Pairs that remain, each with its reason. */
const knownPairs: Readonly<Record<string, string>> = {
  'contract/src/deployments and contract/src/feeds': 'a stream of a deployment carries its steps',
  'server/src and server/src/start': 'the list of families is where contributors look for it',
  'server/src/rows/deployments and server/src/rows/environments': 'each statement reads both tables',
  'server/src/rows/environments and server/src/rows/templates': 'each statement reads both tables',
  'server/src/rows/roles and server/src/rows/teams': 'each statement reads both tables',
};

/** Code that several folders of a room share has a folder of its own below them. */
test('a folder is used from above only', () => {
  assert.deepEqual(pairsOfFolders().toSorted(), Object.keys(knownPairs).toSorted());
});
