import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TornState } from '../../drivers/interface/driver.ts';
import type { SeveralFiles } from '../../drivers/interface/state-places.ts';
import { type FolderReader, oneFile, severalFiles } from './state-files.ts';

/** Files in memory, whose stamps are their contents. */
function folderOf(files: Map<string, string>): FolderReader & { readonly reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    list: async () => [...files.keys()],
    stamp: async (name) => files.get(name) ?? null,
    async read(name) {
      reads.push(name);
      const text = files.get(name);
      return text === undefined ? null : Buffer.from(text);
    },
  };
}

const several: SeveralFiles = {
  isPart: (name) => name.endsWith('.part'),
  split: () => new Map(),
  join: (files, before) =>
    Buffer.from(
      [before?.toString() ?? '', ...[...files].map(([name, bytes]) => `${name}=${String(bytes)}`)].join(' '),
    ),
  check(file) {
    if (!file.toString().endsWith('.')) throw new TornState('incomplete');
  },
  rescued: async () => [],
  keeps: () => true,
};

const text = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString();

test('one file is read when it has changed, and again after it was forgotten', async () => {
  const files = new Map<string, string>();
  const folder = folderOf(files);
  const one = oneFile(folder, 'state');
  assert.equal(await one.readIfNew(), null);
  files.set('state', 'first');
  assert.equal(text(await one.readIfNew()), 'first');
  assert.equal(await one.readIfNew(), null);
  one.forget();
  assert.equal(text(await one.readIfNew()), 'first');
  assert.deepEqual(folder.reads, ['state', 'state']);
});

test('several files are read one by one, and only those that have changed', async () => {
  const files = new Map([
    ['a.part', '1.'],
    ['b.part', '2.'],
    ['b.part.backup', 'x.'],
  ]);
  const folder = folderOf(files);
  const state = severalFiles(folder, several, () => Buffer.from('old'));
  assert.equal(text(await state.readIfNew()), 'old a.part=1. b.part=2.');
  files.set('b.part', '3.');
  assert.equal(text(await state.readIfNew()), 'old a.part=1. b.part=3.');
  assert.deepEqual(folder.reads, ['a.part', 'b.part', 'b.part']);
});

test('a file that is torn, empty or gone counts with its last complete content', async () => {
  const files = new Map([
    ['a.part', '1.'],
    ['b.part', ''],
  ]);
  const state = severalFiles(folderOf(files), several, () => null);
  assert.equal(text(await state.readIfNew()), ' a.part=1.');
  files.set('a.part', '2');
  assert.equal(await state.readIfNew(), null);
  files.delete('a.part');
  files.set('b.part', '3.');
  assert.equal(text(await state.readIfNew()), ' a.part=1. b.part=3.');
  state.forget();
  files.set('a.part', '2.');
  assert.equal(text(await state.readIfNew()), ' a.part=2. b.part=3.');
});

test('files count as written if their content is another one than before the tool started', async () => {
  const files = new Map([
    ['a.part', '1.'],
    ['state', '1'],
  ]);
  const folder = folderOf(files);
  for (const [state, name] of [
    [oneFile(folder, 'state'), 'state'],
    [severalFiles(folder, several, () => null), 'a.part'],
  ] as const) {
    await state.notice();
    await state.readIfNew();
    assert.equal(state.isWritten, false, name);
    files.set(name, '2.');
    await state.readIfNew();
    assert.equal(state.isWritten, true, name);
  }
});

test('something else in the place of a part is a problem, and the other parts count', async () => {
  const files = new Map([
    ['a.part', '1.'],
    ['b.part', 'no part.'],
    ['c.part', '3.'],
  ]);
  const folder = folderOf(files);
  const check = (file: Uint8Array) => {
    if (String(file) === 'no part.') throw new Error('it is of another format');
    several.check(file);
  };
  const state = severalFiles(folder, { ...several, check }, () => null);
  assert.equal(text(await state.readIfNew()), ' a.part=1. c.part=3.');
  assert.equal(state.problem?.message, 'b.part: it is of another format');
  const read = folder.read;
  const stuck = {
    ...folder,
    read: async (name: string) => (name === 'a.part' ? assert.fail('a link') : read(name)),
  };
  const other = severalFiles(stuck, several, () => null);
  assert.equal(text(await other.readIfNew()), ' b.part=no part. c.part=3.');
  assert.equal(other.problem?.message, 'a.part: a link');
  files.set('b.part', '2.');
  assert.equal(text(await state.readIfNew()), ' a.part=1. c.part=3. b.part=2.');
  assert.equal(state.problem, null);
});
