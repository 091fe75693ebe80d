/** Numbers of tools that no JavaScript number holds, from an agent's message to replies and inputs. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Plan } from '#contract/deployments/plan.ts';
import type { OperationName } from '#contract/operations.ts';
import { ExactNumber } from '#contract/schema/exact-json.ts';
import type { CallInput } from '../../../testing/client.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, call, ok, createEnvironment, createIdle, deploy, forgetWork } = await startAgentTests();
beforeEach(() => forgetWork());

const largest = '9223372036854775807';
const number = (text: string) => new ExactNumber(text);
const output = (value: unknown, sensitive = false) => ({ value, sensitive, type: 'number' });

async function textOf(name: OperationName, input: CallInput): Promise<string> {
  const { statusCode, body } = await call(name, input);
  assert.equal(statusCode, 200, body);
  return body.replaceAll(/\s/g, '');
}

/** A deployed environment. @returns its id, and that of its deployment */
async function deployed(outputs: Record<string, ReturnType<typeof output>>, plan?: Plan) {
  const environment = await createEnvironment({ name: 'source', requiresApproval: false });
  const next = await agent.plan({ ...(plan ? { plan } : {}) });
  assert.ok(next);
  await agent.apply(next, ['a'], { outputs });
  return { id: environment.id, deploymentId: environment.latestDeploymentLogId ?? '' };
}

const plan: Plan = {
  resourceChanges: [
    {
      ...{ name: 'n', providerName: 'p', type: 't', path: 't.n', action: 'update' },
      attributes: [{ name: 'id', before: number('9223372036854775806'), after: { a: [number(largest)] } }],
    },
  ],
  outputChanges: [],
};

test('plans and outputs have all digits in every reply', async () => {
  const { id, deploymentId } = await deployed(
    { big: output(number(largest)), fine: output(number('0.1000000000000000055511151231257827')) },
    plan,
  );
  const replies: [OperationName, CallInput][] = [
    ['getDeployment', { id: deploymentId }],
    ['listDeployments', { id }],
    ['getEnvironment', { id }],
    ['getEnvironment', { id, query: { excludeFields: 'latestDeploymentLog.plan' } }],
    ['listEnvironments', { query: { organizationId: app.organizationId } }],
    ['listEnvironments', { query: { organizationId: app.organizationId, excludeFields: 'name' } }],
  ];
  for (const [name, input] of replies) {
    const body = await textOf(name, input);
    assert.match(body, /"big":\{[^}]*"value":9223372036854775807[,}]/, name);
    assert.match(body, /"fine":\{[^}]*"value":0\.1000000000000000055511151231257827[,}]/, name);
    if (JSON.stringify(input).includes('.plan')) continue;
    assert.match(body, /"before":9223372036854775806[,}]/, name);
    assert.match(body, /"after":\{"a":\[9223372036854775807\]\}/, name);
  }
});

test('an environment gets the number of another one as it is, secret or not', async () => {
  await ok('updatePolicy', { body: { projectId: app.projectId, outputsAsInputsEnabled: true } });
  const source = await deployed({
    big: output(number(largest)),
    list: output([number('1.0'), { a: number('1e30') }]),
    secret: output({ key: number('12345678901234567890') }, true),
  });
  const input = (name: string, type: 0 | 1 = 1) => ({
    ...{ name: type === 0 ? name.toUpperCase() : name, type, schema: { format: 'ENVIRONMENT_OUTPUT' } },
    value: JSON.stringify({ environmentId: source.id, outputName: name }),
  });
  const configurationChanges = [input('big'), input('list'), input('secret'), input('big', 0)];
  const { id } = await createIdle({ name: 'consumer', configurationChanges });
  await deploy(id);
  const { variables } = await agent.claim();
  const values = Object.fromEntries(
    [...variables.terraform, ...variables.environment].map(({ name, value }) => [name, value]),
  );
  assert.deepEqual(values, {
    big: largest,
    BIG: largest,
    list: '[1.0,{"a":1000000000000000000000000000000}]',
    secret: '{"key":12345678901234567890}',
  });
});

test('a number that the database cannot store is kept as a text of its digits', async () => {
  const long = `0.${'3'.repeat(20_000)}`;
  const { deploymentId } = await deployed({
    huge: output(number('1e999999')),
    long: output([number(long)]),
    large: output(number('1e400')),
  });
  const body = await textOf('getDeployment', { id: deploymentId });
  assert.match(body, /"value":"1e999999"/);
  assert.ok(body.includes(`["${long}"]`));
  assert.ok(body.includes(`"value":1${'0'.repeat(400)}`));
});
