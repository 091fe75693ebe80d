import assert from 'node:assert/strict';
import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createSealer, SealError } from '../secrets/sealer.ts';
import { type BlobStore, createFolderBlobStore } from './blob-store.ts';

let folder: string;
let blobs: BlobStore;
/** Of another server that uses the same folder and the same key. */
let others: BlobStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'blobs '));
  const keys = [{ id: randomBytes(4), key: createSecretKey(randomBytes(32)) }] as const;
  const open = () => createFolderBlobStore(join(folder, 'root'), createSealer({ file: '/keys', keys }));
  [blobs, others] = [open(), open()];
});
afterEach(() => rmSync(folder, { recursive: true }));

const filesBelow = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('a blob is returned as it was stored, and is sealed and private on disk', async () => {
  const content = Buffer.from('planted value '.repeat(20_000));
  const ref = await blobs.put(['plan', 'd1'], content);
  assert.deepEqual(
    { sha256: ref.sha256, bytes: ref.bytes },
    { sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length },
  );
  assert.deepEqual(await buffer(blobs.get(ref)), content);
  const [file] = filesBelow();
  assert.ok(file && !readFileSync(file).includes('planted'));
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('storing a name twice makes two blobs; an empty blob is a blob, too', async () => {
  const [first, second] = [
    await blobs.put(['state', 'e'], Buffer.from('1')),
    await blobs.put(['state', 'e'], Buffer.alloc(0)),
  ];
  assert.notEqual(first.id, second.id);
  assert.equal((await buffer(blobs.get(first))).toString(), '1');
  assert.equal((await buffer(blobs.get(second))).length, 0);
  await blobs.remove(first);
  await blobs.remove(first);
  await assert.rejects(buffer(blobs.get(first)), /ENOENT/);
});

test('a source that fails leaves nothing behind', async () => {
  async function* failing(): AsyncGenerator<Buffer> {
    yield randomBytes(200_000);
    throw new Error('connection lost');
  }
  await assert.rejects(blobs.put(['tree', 'd1'], failing()), /connection lost/);
  assert.deepEqual(filesBelow(), []);
});

test('reading a truncated or swapped blob fails', async () => {
  const ref = await blobs.put(['plan', 'd1'], randomBytes(100_000));
  const [file] = filesBelow();
  assert.ok(file);
  truncateSync(file, 90_000);
  await assert.rejects(buffer(blobs.get(ref)), SealError);
});

test('names that lead out of the folder are refused', async () => {
  for (const name of [['..', 'x'], ['a/../..'], ['a/b'], [''], ['.hidden'], ['a\0'], []]) {
    await assert.rejects(blobs.put(name, Buffer.alloc(0)), /not the name of a blob/);
  }
  assert.throws(() => blobs.get({ id: '../../etc/passwd' }), /not the name of a blob/);
});

test('servers share a folder: what one has stored, the others read, list and remove', async () => {
  const content = (index: number) => Buffer.from(`content ${index} `.repeat(1000));
  const refs = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? blobs : others).put(['states', 'one'], content(index)),
    ),
  );
  for (const [index, ref] of refs.entries())
    assert.deepEqual(await buffer((index % 2 === 0 ? others : blobs).get(ref)), content(index));
  const listed: string[] = [];
  for await (const id of others.listStoredBefore(new Date(Date.now() + 1000))) listed.push(id);
  assert.deepEqual(listed.sort(), refs.map(({ id }) => id).sort());
  await Promise.all(refs.flatMap((ref) => [blobs.remove(ref), others.remove(ref)]));
  assert.deepEqual(filesBelow(), []);
});

test('a server stores blobs in a folder that another one removes because it is empty', async () => {
  const place = join(folder, 'root', 'states', 'one');
  for (let round = 0; round < 200; round++) {
    mkdirSync(place, { recursive: true });
    utimesSync(place, 1, 1);
    const removed = others.tidyUp(new Date(2000));
    // Each round meets the removal at another of its steps.
    for (let turn = 0; turn < round % 20; turn++) await setImmediate();
    const ref = await blobs.put(['states', 'one'], Buffer.from('x'));
    await removed;
    assert.equal(String(await buffer(blobs.get(ref))), 'x');
    await blobs.remove(ref);
  }
});
