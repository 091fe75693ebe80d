import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { environmentId, fakeDeployment, fakeEnvironment, runAgainst } from '../../testing/fake-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'envarium-plan-command-'));
after(() => rmSync(folder, { recursive: true }));

const replies = {
  [`GET /environments/${environmentId}`]: fakeEnvironment(),
  [`POST /environments/${environmentId}/sources`]: { id: 's1' },
  [`POST /environments/${environmentId}/deployments`]: fakeDeployment({ status: 'QUEUED' }),
};

test('plan names the variable files that it does not send, and its help says what it sends', async () => {
  for (const name of ['main.tf', '.env', 'my.auto.tfvars']) writeFileSync(join(folder, name), '');
  const without = await runAgainst(['plan', environmentId, folder], replies);
  assert.match(without.stderr, /^Not sent, .*: (\.env, my\.auto\.tfvars|my\.auto\.tfvars, \.env)\. Use/m);
  assert.match(without.stderr, /^Sending 1 files/m);
  const whole = await runAgainst(['plan', environmentId, folder, '--include-variable-files'], replies);
  assert.doesNotMatch(whole.stderr, /Not sent/);
  assert.match(whole.stderr, /^Sending 3 files/m);
  const help = await runAgainst(['plan', '--help'], {});
  assert.match(help.stdout, /what git would commit/);
});
