/** Arguments of the service's program. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));

function run(...words: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
}

test('the service refuses arguments instead of ignoring them', () => {
  const { status, stdout, stderr } = run('--port', '3900');
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^The service does not know "--port": .* configured by environment variables/);
});

test('the service prints its usage', () => {
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  assert.match(stdout, /ENVARIUM_PORT +port to listen on/);
});
