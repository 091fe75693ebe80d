import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { deploy, environmentOf, forgetWork } from '../../../testing/environment.ts';
import { createFrom, createTemplate, templateBody } from '../../../testing/template.ts';

const app = await testApp();
const agent = await testAgent(app);
await agent.register([], { tools: ['terraform', 'opentofu', 'ansible'] });

const ansible = { type: 'ansible', ansibleVersion: '10.0.0' };
const tofu = { type: 'opentofu', opentofuVersion: 'latest' };
const change = ({ id, name }: { id: string; name: string }, more: object) => ({
  params: { id },
  body: templateBody(app, { name, ...more }),
});

/** An environment with a state of terraform, and its template. */
async function deployed() {
  const template = await createTemplate(app);
  const { id } = await createFrom(app, template.id, { requiresApproval: false });
  const next = await agent.plan();
  assert.ok(next);
  await agent.apply(next, ['a']);
  return { id, template };
}

async function stepsOf(deploymentLogId: string): Promise<string[]> {
  return (await ok(app, 'listSteps', { params: { deploymentLogId } })).map(({ name }) => name);
}

test('the tool changes only to one that reads the states of the environments', async () => {
  const { id, template } = await deployed();
  await createFrom(app, template.id, { preventAutoDeploy: true });
  const { message } = await refused(app, 'updateTemplate', 409, change(template, ansible));
  assert.match(message, /^\/body\/type cannot change from terraform to ansible: .*1 environment.*clear/);
  assert.equal((await ok(app, 'updateTemplate', change(template, tofu))).type, 'opentofu');
  await ok(app, 'clearState', { params: { id } });
  assert.equal((await ok(app, 'updateTemplate', change(template, ansible))).type, 'ansible');
});

test('the tool does not change while a deployment may store a state, nor for states that list nothing', async () => {
  const template = await createTemplate(app);
  const { id } = await createFrom(app, template.id, { requiresApproval: false });
  const other = await createTemplate(app, ansible);
  const toOther = { params: { id }, body: { blueprintId: other.id } };
  const first = await refused(app, 'updateTemplate', 409, change(template, ansible));
  assert.match(first.message, /while the deploy \S+ is IN_PROGRESS: ansible would not read a state/);
  assert.match((await refused(app, 'deployEnvironment', 409, toOther)).message, /while the deploy/);
  const next = await agent.plan();
  assert.ok(next);
  await agent.apply(next, ['a']);
  await ok(app, 'destroyEnvironment', { params: { id } });
  const destroy = await agent.plan();
  assert.ok(destroy);
  await agent.apply(destroy, []);
  assert.equal((await environmentOf(app, id)).status, 'INACTIVE');
  const standing = async () =>
    (await ok(app, 'listStateVersions', { params: { id } })).map((version) => version.standing);
  assert.ok((await standing()).includes('current'));
  assert.equal((await ok(app, 'updateTemplate', change(template, ansible))).type, 'ansible');
  assert.ok(!(await standing()).includes('current'), 'ansible does not get it');
});

test('an environment with a state switches only to a template whose tool reads it', async () => {
  const { id } = await deployed();
  const other = await createTemplate(app, ansible);
  const request = { params: { id }, body: { blueprintId: other.id } };
  const { message } = await refused(app, 'deployEnvironment', 409, request);
  assert.match(message, /^\/body\/blueprintId cannot change from terraform to ansible: .*clear/);
  const same = await createTemplate(app, tofu);
  assert.equal((await deploy(app, id, { blueprintId: same.id })).blueprintType, 'opentofu');
  assert.equal((await agent.claim()).tool, 'opentofu');
  await forgetWork(app);
});

test('a destroy runs the tool and the version that deployed last, whatever the template names since', async () => {
  const { id, template } = await deployed();
  // As with a state in a backend of the code's own.
  await ok(app, 'clearState', { params: { id } });
  await ok(app, 'updateTemplate', change(template, ansible));
  const destroy = await ok(app, 'destroyEnvironment', { params: { id } });
  assert.equal(destroy.blueprintType, 'terraform');
  assert.ok((await stepsOf(destroy.id)).includes('tf:destroy'));
  const job = await agent.claim();
  assert.deepEqual([job.type, job.tool, job.toolVersion], ['destroy', 'terraform', '1.11.4']);
  await forgetWork(app);
});

test('a queued destroy takes the tool of the last deploy when its turn comes', async () => {
  const { id } = await deployed();
  await ok(app, 'updateEnvironment', { params: { id }, body: { requiresApproval: true } });
  const other = await createTemplate(app, tofu);
  const tried = await deploy(app, id, { blueprintId: other.id });
  await agent.plan();
  const destroy = await ok(app, 'destroyEnvironment', { params: { id } });
  assert.ok((await stepsOf(destroy.id)).includes('opentofu:destroy'));
  await ok(app, 'cancelDeployment', { params: { id: tried.id } });
  assert.equal((await environmentOf(app, id)).latestDeploymentLog.blueprintType, 'terraform');
  const steps = await stepsOf(destroy.id);
  assert.ok(steps.includes('tf:destroy') && !steps.includes('opentofu:destroy'), steps.join());
  assert.equal((await agent.claim()).tool, 'terraform');
});
