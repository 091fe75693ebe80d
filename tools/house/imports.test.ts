import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles, root, textOf } from '../repository.ts';
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
  .filter((file) => file.endsWith('.ts') && roomOf(file) in rooms)
  .flatMap((from) => importsOf(from, textOf(from) ?? '', manifest.imports).map((one) => ({ ...one, from })));

const line = (one: { from: string; specifier: string }) => `${one.from} imports ${one.specifier}`;

test('every folder with TypeScript is a room of the import table', () => {
  const folders = new Set(
    repositoryFiles()
      .filter((file) => file.endsWith('.ts') && file.includes('/'))
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
 * The place of a file in the order of the server: of its own or of its folder; null outside of the server.
 */
function serverPart(file: string): string | null {
  if (!file.startsWith('server/src/')) return null;
  const path = file.slice('server/src/'.length);
  return serverOrder.includes(path) ? path : (path.split('/')[0] ?? null);
}

test('every folder of the server stands in the written order', () => {
  const parts = repositoryFiles().filter(
    (file) => file.startsWith('server/src/') && file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const unknown = new Set(
    parts.map((file) => serverPart(file) ?? '').filter((part) => !serverOrder.includes(part)),
  );
  assert.deepEqual([...unknown], [], 'add them to serverOrder in tools/house/rooms.ts');
});

test('a part of the server imports only what stands before it', () => {
  const wrong = imports.filter(({ from, file, isTypeOnly }) => {
    const [own, other] = [serverPart(from), file === null ? null : serverPart(file)];
    if (file === null || own === null || other === null || own === other || from.endsWith('.test.ts'))
      return false;
    // Stores lie below all verbs: any family may read and write another's rows through them.
    if (file.endsWith('-store.ts')) return false;
    if (isTypeOnly && freeTypes.some((free) => file.endsWith(`/${free}`))) return false;
    return serverOrder.indexOf(other) > serverOrder.indexOf(own);
  });
  assert.deepEqual(wrong.map(line), []);
});

test('routes are imported only by what joins the families', () => {
  const wrong = imports.filter(({ from, file }) => {
    if (file === null || !file.startsWith('server/src/') || !file.endsWith('-routes.ts')) return false;
    return !(from.endsWith('.test.ts') || ['start', 'testing'].includes(serverPart(from) ?? ''));
  });
  assert.deepEqual(wrong.map(line), []);
});
