import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../../../../testing/agent.ts';
import { testApp } from '../../../../testing/app.ts';
import { createActive, deploy } from '../../../../testing/environment.ts';

const name = 'PULUMI_CONFIG_PASSPHRASE';

test('runs of an environment get its own passphrase, sealed in the database and masked', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  await agent.register([], { tools: ['terraform', 'pulumi'] });
  const ids = [await createActive(app, agent), await createActive(app, agent)].map(({ id }) => id);
  await app.database.pool.query("update template set type = 'pulumi'");
  const claim = async (id: string) => {
    await deploy(app, id, { deploymentType: 'dryRun' });
    const job = await agent.claim();
    const finishedAt = new Date().toISOString();
    await agent.finish(job, { result: 'failed', finishedAt, failedCommand: 'x', error: { message: 'x' } });
    return job;
  };
  const [one, again, other] = [await claim(ids[0]!), await claim(ids[0]!), await claim(ids[1]!)];
  const [first, second, third] = [one, again, other].map(({ variables }) =>
    variables.environment.find((variable) => variable.name === name),
  );
  assert.equal(Buffer.from(first?.value ?? '', 'base64').length, 32);
  assert.equal(first?.isSensitive, true);
  assert.equal(second?.value, first?.value);
  assert.notEqual(third?.value, first?.value);
  assert.ok(one.secrets.includes(first?.value ?? ''));
  const { rows } = await app.database.pool.query<{ sealed_value: Buffer }>(
    'select sealed_value from environment_secret',
  );
  assert.equal(rows.length, 2);
  assert.ok(rows.every(({ sealed_value: sealed }) => !sealed.includes(first?.value ?? '')));
});

test('a passphrase or a backend of the run itself is enough', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  await agent.register([], { tools: ['terraform', 'pulumi'] });
  for (const own of [name, `${name}_FILE`, 'PULUMI_BACKEND_URL', 'PULUMI_ACCESS_TOKEN']) {
    const configurationChanges = [{ name: own, value: 'own value', isSensitive: true }];
    const { id } = await createActive(app, agent, { configurationChanges });
    await app.database.pool.query("update template set type = 'pulumi'");
    await deploy(app, id, { deploymentType: 'dryRun' });
    const job = await agent.claim();
    const generated = job.variables.environment.filter((variable) => variable.value !== 'own value');
    assert.deepEqual(
      generated.filter((variable) => variable.name === name),
      [],
      own,
    );
    const finishedAt = new Date().toISOString();
    await agent.finish(job, { result: 'failed', finishedAt, failedCommand: 'x', error: { message: 'x' } });
    await app.database.pool.query("update template set type = 'terraform'");
  }
});
