import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FolderLockedError, lockFolder } from './folder-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock '));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a second process learns who holds the folder, and gets it once the holder was killed', async () => {
  const script = `
    const { lockFolder } = await import(process.argv[1]);
    await lockFolder(process.argv[2], () => ({ address: 'http://127.0.0.1:3000' }));
    console.log('held');
    setInterval(() => {}, 1000);`;
  const holder = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, new URL('folder-lock.ts', import.meta.url).href, folder],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    await once(holder.stdout, 'data');
    await assert.rejects(lockFolder(folder), (error) => {
      assert.ok(error instanceof FolderLockedError);
      assert.equal(error.holder?.pid, holder.pid);
      assert.match(
        error.message,
        new RegExp(`${folder} is in use by process ${holder.pid}, started 20.*, at http://127.0.0.1:3000\\.`),
      );
      return true;
    });
  } finally {
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  }
  await using lock = await lockFolder(folder);
  assert.equal(lock.folder, folder);
});

test('of many that try at the same time exactly one gets the folder', async () => {
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(join(folder, 'new'))));
  const won = results.filter((result) => result.status === 'fulfilled');
  assert.equal(won.length, 1);
  for (const result of results)
    if (result.status === 'rejected') assert.ok(result.reason instanceof FolderLockedError);
  await won[0]?.value[Symbol.asyncDispose]();
  await using again = await lockFolder(join(folder, 'new'));
  assert.ok(again);
});

test('the name of the lock is random and private', async () => {
  await using lock = await lockFolder(folder);
  const file = join(lock.folder, 'lock');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await using other = await lockFolder(join(folder, 'other'));
  assert.notEqual(readFileSync(file, 'utf8'), readFileSync(join(other.folder, 'lock'), 'utf8'));
});
