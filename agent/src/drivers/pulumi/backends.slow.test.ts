/** Passphrases and backends of users, with the real runner and the real Pulumi. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import { withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage, variablesOf } from '../../../testing/pulumi/pulumi-stage.ts';
import { onePage as program } from '../../../testing/pulumi/shop.ts';

test('a wrong passphrase is named, and the right one works', withPulumi, async (t) => {
  const { world, run, job, deploy, after } = pulumiStage(t, { 'Pulumi.yaml': program });
  const { applied } = await deploy();
  const { changes, options } = after(applied);
  const wrong = variablesOf(world, {
    hasNoPassphrase: true,
    environment: { PULUMI_CONFIG_PASSPHRASE: 'another one' },
  });
  const refused = await run(job({ ...changes, variables: wrong }), options);
  assert.match(failureMessageOf(refused), /PULUMI_CONFIG_PASSPHRASE is not the passphrase/);
  assert.equal((await deploy({}, applied)).applied.outcome.result, 'applied');
});

test('a passphrase may be in a file of the project', withPulumi, async (t) => {
  const environment = { PULUMI_CONFIG_PASSPHRASE_FILE: 'keys/passphrase' };
  const files = { 'Pulumi.yaml': program, 'keys/passphrase': 'from a file\n' };
  const { deploy } = pulumiStage(t, files, { hasNoPassphrase: true, environment, secrets: { token: 'x' } });
  assert.equal((await deploy()).applied.outcome.result, 'applied');
});

/** A backend of the user's own, in a folder that all runs can write to. */
function ownBackend(t: TestContext) {
  const stage = pulumiStage(t, { 'Pulumi.yaml': program });
  const backend = join(stage.setup.folder, 'backend');
  mkdirSync(backend);
  chmodSync(backend, 0o777);
  const environment = { PULUMI_BACKEND_URL: `file://${backend}` };
  return { ...stage, backend, variables: variablesOf(stage.world, { environment }) };
}

test('a backend of the user keeps the state, and the service has none', withPulumi, async (t) => {
  const { variables, deploy, backend, world } = ownBackend(t);
  const { planned, applied } = await deploy({ variables });
  assert.equal(planned.outcome.isStateOurs, false);
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  assert.equal(applied.steps()['state:store'], 'SKIPPED');
  assert.deepEqual(applied.outcome.outputs?.['page']?.value, join(world, 'page'));
  assert.deepEqual(
    readdirSync(join(backend, '.pulumi/stacks/shop')).filter((name) => name === 'test-one.json'),
    ['test-one.json'],
  );
  const again = await deploy({ variables });
  assert.equal(again.planned.outcome.hasChanges, false);
  await assert.rejects(
    deploy({ variables, state: { isForced: true } }),
    /isRemoteBackend is true, but PULUMI_BACKEND_URL names another backend/,
  );
});

test('a locked stack is named, and the lock stays', withPulumi, async (t) => {
  const { variables, deploy, run, job, apply, backend, setup } = ownBackend(t);
  await deploy({ variables });
  setup.commit({ 'Pulumi.yaml': program.replace('hello', 'bye') });
  const planned = await run(job({ variables }));
  const locks = join(backend, '.pulumi/locks/organization/shop/test-one');
  const lock = { pid: 1, username: 'somebody', hostname: 'elsewhere', timestamp: new Date().toISOString() };
  writeFileSync(join(locks, 'somebody.json'), JSON.stringify(lock), { mode: 0o644 });
  const refused = await apply(planned);
  assert.match(
    failureMessageOf(refused),
    /stack is currently locked by 1 lock[\s\S]*wait until the other run has ended; if it was killed, run "pulumi cancel"/,
  );
  assert.deepEqual(readdirSync(locks), ['somebody.json']);
});
