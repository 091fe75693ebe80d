import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { availableMemory, totalMemory } from './memory.ts';

const megabyte = 1024 ** 2;

/** Files of the kernel with 8,000 MB of available memory. @param groups files of each group, by its path */
function kernelWith(t: TestContext, own: string, groups: Record<string, Record<string, string | number>>) {
  const folder = mkdtempSync(join(tmpdir(), 'memory-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const folders = { proc: join(folder, 'proc'), groups: join(folder, 'groups') };
  mkdirSync(join(folders.proc, 'self'), { recursive: true });
  writeFileSync(join(folders.proc, 'self', 'cgroup'), `0::${own}\n`);
  writeFileSync(join(folders.proc, 'meminfo'), `MemTotal: 1 kB\nMemAvailable:    ${8000 * 1024} kB\n`);
  for (const [path, files] of Object.entries(groups)) {
    mkdirSync(join(folders.groups, path), { recursive: true });
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folders.groups, path, name), `${content}\n`);
  }
  return folders;
}

test('without a limit, memory is that of the machine', (t) => {
  const folders = kernelWith(t, '/a', { a: { 'memory.max': 'max', 'memory.current': 5 } });
  assert.equal(availableMemory(folders), 8000 * megabyte);
  assert.equal(totalMemory(folders), totalmem());
  assert.ok(availableMemory() > 0 && availableMemory() <= totalmem());
});

test('a page cache that fills a group is available', (t) => {
  const stat = `anon 1\nactive_file ${300 * megabyte}\ninactive_file ${500 * megabyte}`;
  const files = { 'memory.max': 1000 * megabyte, 'memory.current': 1000 * megabyte, 'memory.stat': stat };
  const folders = kernelWith(t, '/service', { service: files });
  assert.equal(availableMemory(folders), 800 * megabyte);
  assert.equal(totalMemory(folders), 1000 * megabyte);
});

test('a limit of a group above counts, and so does the limit at which the kernel slows down', (t) => {
  const folders = kernelWith(t, '/slice/service', {
    slice: { 'memory.max': 900 * megabyte, 'memory.high': 700 * megabyte, 'memory.current': 200 * megabyte },
    'slice/service': { 'memory.max': 'max', 'memory.current': 100 * megabyte },
  });
  assert.equal(availableMemory(folders), 500 * megabyte);
  assert.equal(totalMemory(folders), 700 * megabyte);
});
