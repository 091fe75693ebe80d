import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles } from '../tree/repository.ts';
import { readImportGraph } from './import-graph.ts';
import { stagesOf } from './stages.ts';

const files = repositoryFiles().filter((file) => file.endsWith('.test.ts'));
const [fast, slow] = stagesOf(files, readImportGraph());

test('every file is in one job', () => {
  const planned = [fast, slow].flatMap((stage) => stage?.jobs.flatMap((job) => job.files) ?? []);
  assert.deepEqual(planned.toSorted(), files.toSorted());
});

test('two jobs more than there are processors run at the same time', () => {
  assert.equal(fast?.concurrency, Math.max(2, availableParallelism()) + 2);
});

test('slow files run one by one, each in a process of its own', () => {
  assert.equal(slow?.concurrency, 1);
  assert.ok(slow.jobs.every((job) => job.files.length === 1 && job.files[0]?.endsWith('.slow.test.ts')));
});

test('acceptance files of one folder share a service, those elsewhere do not', () => {
  for (const { files: together } of fast?.jobs.filter((job) => job.files[0]?.startsWith('acceptance/')) ?? [])
    if (together.length > 1)
      assert.match([...new Set(together.map((file) => dirname(file)))].join(), /^[^,]*\/one-service$/);
  const sharing = fast?.jobs.filter((job) => job.files[0]?.includes('/one-service/')) ?? [];
  const count = sharing.flatMap((job) => job.files).length;
  assert.ok(sharing.length < count, `${count} files in ${sharing.length} processes`);
});

test('a process has files of one room only, and those of the server have few processes', () => {
  const shared = fast?.jobs.filter((job) => job.files.length > 1) ?? [];
  for (const { files: together } of shared)
    assert.equal(new Set(together.map((file) => file.split('/')[0])).size, 1, together.join());
  const server = shared.filter((job) => job.files[0]?.startsWith('server/'));
  const count = server.flatMap((job) => job.files).length;
  assert.ok(count > 4 * server.length, `${count} files in ${server.length} processes`);
});
