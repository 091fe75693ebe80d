import assert from 'node:assert/strict';
import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import { createSealer, SealError } from '../secrets/sealer.ts';
import { type BlobStore, createFolderBlobStore } from './blob-store.ts';

let folder: string;
let blobs: BlobStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'blobs '));
  blobs = createFolderBlobStore(
    join(folder, 'root'),
    createSealer({ file: '/keys', keys: [{ id: randomBytes(4), key: createSecretKey(randomBytes(32)) }] }),
  );
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
