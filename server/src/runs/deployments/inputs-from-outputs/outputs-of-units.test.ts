import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { appliedOutcome } from '../../../../testing/agent.ts';
import { fieldsOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, ok, createEnvironment, createIdle, deploy, deploymentOf, forgetWork } = tests;
await agent.register([], { tools: ['terraform', 'terragrunt'] });
await ok('updatePolicy', { body: { projectId: app.projectId, outputsAsInputsEnabled: true } });
beforeEach(() => forgetWork());

const text = (value: string, sensitive = false) => ({ value, sensitive, type: 'string' });
const outputs = {
  'live/vpc.id': text('vpc-1'),
  'live/vpc.name': text('main'),
  'live/v1.2/app.name': text('app'),
  'live/v1.2/app.password': text('hunter2-planted', true),
};

/** An environment whose last deployment worked on several units. */
async function deployedUnits() {
  const { id, latestDeploymentLogId } = await createEnvironment({
    name: 'live',
    type: 'terragrunt',
    isTerragruntRunAll: true,
    requiresApproval: false,
  });
  const next = await agent.plan();
  assert.ok(next);
  await agent.mark(next);
  await agent.finish(next, appliedOutcome({ outputs, isStateOurs: false }));
  return { id, deploymentId: latestDeploymentLogId ?? '' };
}

test('the outputs of a run of several units are a list by unit, wherever they are shown', async () => {
  covers('UnitOutputs', 'moduleName', 'output');
  const { id, deploymentId } = await deployedUnits();
  const expected = [
    { moduleName: 'live/vpc', output: { id: text('vpc-1'), name: text('main') } },
    {
      moduleName: 'live/v1.2/app',
      output: { name: text('app'), password: text('********', true) },
    },
  ];
  assert.deepEqual((await deploymentOf(deploymentId)).output, expected);
  const [listed] = await ok('listDeployments', { id });
  assert.deepEqual(listed?.output, expected);
  const environment = await ok('getEnvironment', { id });
  assert.deepEqual(environment.latestDeploymentLog?.output, expected);
  const { outputs: names } = await ok('listEnvironmentOutputs', { query: { projectId: app.projectId } });
  assert.deepEqual(
    names.filter(({ environmentId }) => environmentId === id).map(({ name }) => name),
    Object.keys(outputs).sort(),
  );
});

test('a dot in the name of an output means nothing where a run has no units', async () => {
  const { latestDeploymentLogId } = await createEnvironment({ requiresApproval: false });
  const next = await agent.plan();
  await agent.apply(next!, ['a'], { outputs: { 'a.b': text('c') } });
  assert.deepEqual((await deploymentOf(latestDeploymentLogId ?? '')).output, { 'a.b': text('c') });
});

test('a reference names the unit, or only one unit has the output', async () => {
  const { id } = await deployedUnits();
  const input = (name: string, outputName: string) => ({
    name,
    value: JSON.stringify({ environmentId: id, outputName }),
    type: 1,
    schema: { format: 'ENVIRONMENT_OUTPUT' },
  });
  const runWith = async (...configurationChanges: object[]) => {
    const consumer = await createIdle({ name: 'app', configurationChanges });
    return (await deploy(consumer.id)).id;
  };
  await runWith(
    input('whole', 'live/v1.2/app.name'),
    { ...input('text', ''), value: `\${envarium:${id}:live/vpc.name}` },
    input('short', 'id'),
    input('secret', 'password'),
  );
  const { variables } = await agent.claim();
  assert.deepEqual(fieldsOf(variables.terraform, 'name', 'value', 'isSensitive').sort(), [
    ['secret', 'hunter2-planted', true],
    ['short', 'vpc-1', false],
    ['text', 'main', false],
    ['whole', 'app', false],
  ]);
  const wrong = await runWith(input('several', 'name'), input('none', 'live/vpc.nope'));
  assert.equal(await agent.claimAny(), null);
  const message = (await deploymentOf(wrong)).error?.message ?? '';
  assert.match(
    message,
    /output "name" of environment "live", where several units have an output of that name: use one of live\/v1\.2\/app\.name, live\/vpc\.name$/m,
  );
  assert.match(message, /output "live\/vpc\.nope" .*no output of that name: it has live\/v1\.2\/app\.name, /);
});
