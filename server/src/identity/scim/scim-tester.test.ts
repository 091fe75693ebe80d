import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { testApp } from '../../../testing/app.ts';
import { scimClient } from '../../../testing/scim.ts';

/** The published test client and what it needs to send requests, in versions that fit together. */
const packages = ['scim2-tester==0.5.2', 'scim2-client[httpx2]==0.13.2', 'scim2-models==0.12.3'];

const folder = mkdtempSync(join(tmpdir(), 'scim-tester-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const python = join(folder, 'bin/python');

/** @returns why the client cannot be installed; false where it is */
function install(): string | false {
  const steps = [
    ['python3', '-m', 'venv', folder],
    [python, '-m', 'pip', 'install', '--quiet', '--retries', '0', ...packages],
  ] as const;
  for (const [program, ...args] of steps)
    if (spawnSync(program, args, { timeout: 120_000 }).status !== 0)
      return 'needs python3 with venv and pip, which can install scim2-tester';
  return false;
}

const skip = install();

test('the published test client finds nothing wrong', { skip }, async () => {
  const app = await testApp();
  const { token } = await scimClient(app);
  const address = await app.listen();
  const script = join(import.meta.dirname, 'scim-tester.py');
  const { stdout } = await promisify(execFile)(python, [script, `${address}/scim/v2`, token]);
  const { passed, others } = JSON.parse(stdout) as { passed: number; others: unknown[] };
  assert.deepEqual(others, []);
  assert.ok(passed > 50, `${passed} checks`);
});
