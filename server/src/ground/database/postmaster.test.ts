import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

test('a service that waits for the end of an earlier postmaster does not exit before it', () => {
  const { href } = new URL('./postmaster.ts', import.meta.url);
  const program = `
    import { stopPostmaster } from ${JSON.stringify(href)};
    const ended = new Promise((resolve) => setTimeout(resolve, 200).unref());
    const cluster = { dataFolder: '/nonexistent', defaultSocketFolder: '/nonexistent' };
    await stopPostmaster(cluster, { pid: 2 ** 22 + 1, socketFolder: '/nonexistent', isAdopted: true, ended });
    process.stdout.write('ended');
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [0, 'ended'], stderr);
});
