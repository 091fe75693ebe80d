import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, ok, refused } = tests;
const { deploy, environmentOf, forgetWork, templateBody, createTemplate, createFrom } = tests;
await agent.register([], { tools: ['terraform', 'opentofu', 'ansible'] });

const ansible = { type: 'ansible', ansibleVersion: '10.0.0' };
const tofu = { type: 'opentofu', opentofuVersion: 'latest' };
const change = ({ id, name }: { id: string; name: string }, more: object) => ({
  id,
  body: templateBody({ name, ...more }),
});

/** An environment with a state of terraform, and its template. */
async function deployed() {
  const template = await createTemplate();
  const { id } = await createFrom(template.id, { requiresApproval: false });
  await agent.run();
  return { id, template };
}

async function stepsOf(deploymentLogId: string): Promise<string[]> {
  return (await ok('listSteps', { params: { deploymentLogId } })).map(({ name }) => name);
}

test('the tool changes only to one that reads the states of the environments', async () => {
  const { id, template } = await deployed();
  await createFrom(template.id, { preventAutoDeploy: true });
  const { message } = await refused('updateTemplate', 409, change(template, ansible));
  assert.match(message, /^\/body\/type cannot change from terraform to ansible: .*1 environment.*clear/);
  assert.equal((await ok('updateTemplate', change(template, tofu))).type, 'opentofu');
  await ok('clearState', { id });
  assert.equal((await ok('updateTemplate', change(template, ansible))).type, 'ansible');
});

test('the tool does not change while a deployment may store a state, nor for states that list nothing', async () => {
  const template = await createTemplate();
  const { id } = await createFrom(template.id, { requiresApproval: false });
  const other = await createTemplate(ansible);
  const toOther = { id, body: { blueprintId: other.id } };
  const first = await refused('updateTemplate', 409, change(template, ansible));
  assert.match(first.message, /while the deploy \S+ is IN_PROGRESS: ansible would not read a state/);
  await refused('deployEnvironment', 409, /while the deploy/, toOther);
  await agent.run();
  await ok('destroyEnvironment', { id });
  await agent.run([]);
  assert.equal((await environmentOf(id)).status, 'INACTIVE');
  const standing = async () => (await ok('listStateVersions', { id })).map((version) => version.standing);
  assert.ok((await standing()).includes('current'));
  assert.equal((await ok('updateTemplate', change(template, ansible))).type, 'ansible');
  assert.ok(!(await standing()).includes('current'), 'ansible does not get it');
});

test('an environment with a state switches only to a template whose tool reads it', async () => {
  const { id } = await deployed();
  const other = await createTemplate(ansible);
  const request = { id, body: { blueprintId: other.id } };
  const { message } = await refused('deployEnvironment', 409, request);
  assert.match(message, /^\/body\/blueprintId cannot change from terraform to ansible: .*clear/);
  const same = await createTemplate(tofu);
  assert.equal((await deploy(id, { blueprintId: same.id })).blueprintType, 'opentofu');
  assert.equal((await agent.claim()).tool, 'opentofu');
  await forgetWork();
});

test('a destroy runs the tool and the version that deployed last, whatever the template names since', async () => {
  const { id, template } = await deployed();
  // As with a state in a backend of the code's own.
  await ok('clearState', { id });
  await ok('updateTemplate', change(template, ansible));
  const destroy = await ok('destroyEnvironment', { id });
  assert.equal(destroy.blueprintType, 'terraform');
  assert.ok((await stepsOf(destroy.id)).includes('tf:destroy'));
  const job = await agent.claim();
  assert.deepEqual([job.type, job.tool, job.toolVersion], ['destroy', 'terraform', '1.11.4']);
  await forgetWork();
});

test('a queued destroy takes the tool of the last deploy when its turn comes', async () => {
  const { id } = await deployed();
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  const other = await createTemplate(tofu);
  const tried = await deploy(id, { blueprintId: other.id });
  await agent.plan();
  const destroy = await ok('destroyEnvironment', { id });
  assert.ok((await stepsOf(destroy.id)).includes('opentofu:destroy'));
  await ok('cancelDeployment', { id: tried.id });
  assert.equal((await environmentOf(id)).latestDeploymentLog.blueprintType, 'terraform');
  const steps = await stepsOf(destroy.id);
  assert.ok(steps.includes('tf:destroy') && !steps.includes('opentofu:destroy'), steps.join());
  assert.equal((await agent.claim()).tool, 'terraform');
});
