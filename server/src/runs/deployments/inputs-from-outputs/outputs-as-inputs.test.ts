import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, beforeEach, describe, test } from 'node:test';
import type { JobVariable } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { fieldsOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused, sql } = tests;
const { add, keyFor, createActive, createEnvironment, createIdle, deploy, deploymentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

type Outputs = NonNullable<Outcome['outputs']>;

const text = (value: string, sensitive = false) => ({ value, sensitive, type: 'string' });

const allow = (projectId: string, isAllowed = true) =>
  ok('updatePolicy', { body: { projectId, outputsAsInputsEnabled: isAllowed } });

async function projectNamed(name: string, isAllowed = true): Promise<string> {
  const { id } = await add('Project', name);
  await allow(id, isAllowed);
  return id;
}

const json = (environmentId: string, outputName: string) => JSON.stringify({ environmentId, outputName });

/** A variable that refers to an output. */
function input(name: string, value: string, type: 0 | 1 = 1, more: object = {}) {
  return { name, value, type, schema: { format: 'ENVIRONMENT_OUTPUT' }, ...more };
}

/** An environment that has been deployed. */
async function deployed(name: string, outputs: Outputs, more: object = {}) {
  const environment = await createEnvironment({ name, requiresApproval: false, ...more });
  const next = await agent.plan();
  assert.ok(next);
  await agent.apply(next, ['a'], { outputs });
  return environment;
}

/** An environment whose deployment waits for an agent. */
async function consumer(configurationChanges: object[], more: object = {}) {
  const environment = await createIdle({ name: 'app', ...more, configurationChanges });
  return { id: environment.id, deploymentId: (await deploy(environment.id)).id };
}

/** A deployment that has to fail before an agent gets it. @returns the message */
async function failureOf(deploymentId: string): Promise<string> {
  assert.equal(await agent.claimAny(), null);
  const deployment = await deploymentOf(deploymentId);
  assert.equal(deployment.status, 'FAILURE');
  const steps = await ok('listSteps', { params: { deploymentLogId: deploymentId } });
  assert.deepEqual(
    fieldsOf(
      steps.filter(({ status }) => status !== 'NOT_STARTED'),
      'name',
      'status',
    ),
    [['variables:setup', 'FAIL']],
  );
  const log = await ok('getStepLog', { params: { deploymentLogId: deploymentId, name: 'variables:setup' } });
  const message = deployment.error?.message ?? '';
  assert.equal(log.events.map((event) => event.message).join('\n'), `Error: ${message}`);
  return message;
}

const byName = (variables: readonly JobVariable[]) =>
  Object.fromEntries(variables.map(({ name, ...rest }) => [name, rest]));

describe('outputs as inputs', () => {
  let shared: string;
  let network: string;
  before(async () => {
    shared = await projectNamed('shared');
    const outputs: Outputs = {
      vpc_id: text('vpc-1'),
      password: text('hunter2-planted', true),
      subnets: { value: ['a', 'b'], sensitive: false, type: ['list', 'string'] },
      count: { value: 3, sensitive: false, type: 'number' },
      none: { value: null, sensitive: false, type: 'dynamic' },
      tricky: text('${ENVARIUM_VCS_ACCESS_TOKEN} ${ssm:prod/password} "quoted"\n%{ if true }'),
      hidden: text('postgres://***@db'),
      toString: text('own'),
    };
    network = (await deployed('network', outputs, { projectId: shared })).id;
  });

  test('the outputs that variables can refer to are listed by project', async () => {
    const list = async (as?: Awaited<ReturnType<typeof app.addKey>>) => {
      const query = { projectId: shared };
      return (await ok('listEnvironmentOutputs', as ? { query, as } : { query })).outputs;
    };
    const outputs = await list();
    assert.deepEqual(
      outputs.map(({ name, isSensitive }) => [name, isSensitive]),
      ['count', 'hidden', 'none', 'password', 'subnets', 'toString', 'tricky', 'vpc_id'].map((name) => [
        name,
        name === 'password',
      ]),
    );
    const id = `${network}:count`;
    assert.deepEqual(outputs[0], {
      id,
      environmentId: network,
      environmentName: 'network',
      name: 'count',
      isSensitive: false,
    });
    const ofProject = await keyFor(['VIEW_ENVIRONMENT'], { projectId: shared }, []);
    assert.deepEqual(await list(ofProject), outputs);
    const ofAnother = await keyFor(['VIEW_ENVIRONMENT'], { projectId: app.projectId }, []);
    assert.deepEqual(await list(ofAnother), []);
    await allow(shared, false);
    assert.deepEqual(await list(), []);
    await allow(shared);
    const idle = await createIdle({ projectId: shared, preventAutoDeploy: true });
    assert.deepEqual(await list(), outputs);
    await ok('deleteEnvironment', { id: idle.id });
  });

  test('both forms are stored as written, and a run gets the values in the form that its tool reads', async () => {
    const textForm = `\${envarium:${network}:subnets}`;
    const spaced = `{ "outputName":"vpc_id", "environmentId":"${network}" }`;
    const { id, deploymentId } = await consumer([
      input('vpc', spaced),
      input('subnets', textForm),
      input('count', json(network, 'count')),
      input('none', json(network, 'none')),
      input('tricky', json(network, 'tricky')),
      input('TF_VAR_vpc', json(network, 'vpc_id'), 0),
      input('SUBNETS', textForm, 0),
      input('COUNT', json(network, 'count'), 0),
      input('NONE', json(network, 'none'), 0),
      input('TRICKY', json(network, 'tricky'), 0, { isOutput: true }),
      { name: 'plain', value: 'as ever', type: 1 },
    ]);
    const queued = (await deploymentOf(deploymentId)).variables ?? [];
    assert.equal(queued.find((each) => each.name === 'vpc')?.value, spaced);
    assert.equal(queued.find((each) => each.name === 'subnets')?.value, textForm);
    const job = await agent.claim();
    const tricky = '${ENVARIUM_VCS_ACCESS_TOKEN} ${ssm:prod/password} "quoted"\n%{ if true }';
    const literal = { isSensitive: false, isLiteral: true, scope: 'ENVIRONMENT' };
    assert.deepEqual(byName(job.variables.terraform), {
      plain: { value: 'as ever', isSensitive: false, scope: 'ENVIRONMENT' },
      vpc: { value: 'vpc-1', ...literal },
      subnets: { value: '["a","b"]', format: 'JSON', ...literal },
      count: { value: '3', format: 'JSON', ...literal },
      none: { value: 'null', format: 'JSON', ...literal },
      tricky: { value: tricky, ...literal },
    });
    assert.deepEqual(byName(job.variables.environment), {
      TF_VAR_vpc: { value: 'vpc-1', ...literal },
      SUBNETS: { value: '["a","b"]', ...literal },
      COUNT: { value: '3', ...literal },
      NONE: { value: '', ...literal },
      TRICKY: { value: tricky, ...literal },
    });
    const rows = (await deploymentOf(deploymentId)).variables ?? [];
    assert.equal(rows.find((each) => each.name === 'subnets')?.value, '["a","b"]');
    assert.equal(rows.find((each) => each.name === 'subnets')?.schema?.format, 'ENVIRONMENT_OUTPUT');
    // The environment's own variables still have their references.
    const next = await deploy(id, { deploymentType: 'dryRun' });
    const again = (await deploymentOf(next.id)).variables ?? [];
    assert.equal(again.find((each) => each.name === 'vpc')?.value, spaced);
  });

  test('a sensitive output stays sensitive, and a sensitive variable makes any output so', async () => {
    const { deploymentId } = await consumer([
      input('password', json(network, 'password')),
      input('PASSWORD', json(network, 'password'), 0),
      input('vpc', json(network, 'vpc_id'), 1, { isSensitive: true }),
    ]);
    const job = await agent.claim();
    assert.deepEqual(byName(job.variables.terraform), {
      password: { value: 'hunter2-planted', isSensitive: true, isLiteral: true, scope: 'ENVIRONMENT' },
      vpc: { value: 'vpc-1', isSensitive: true, isLiteral: true, scope: 'ENVIRONMENT' },
    });
    assert.ok(job.secrets.includes('hunter2-planted') && job.secrets.includes('vpc-1'));
    const shown = await deploymentOf(deploymentId);
    assert.deepEqual(fieldsOf(shown.variables, 'name', 'value', 'isSensitive'), [
      ['PASSWORD', sensitiveMask, true],
      ['password', sensitiveMask, true],
      ['vpc', sensitiveMask, true],
    ]);
    const stored = await sql('select variables::text as text from deployment where id = $1', deploymentId);
    assert.doesNotMatch(JSON.stringify([stored, shown, app.logged]), /hunter2-planted/);
  });

  test('the apply uses what the plan has used, whatever the source has become', async () => {
    const source = await deployed('moving', { one: text('first') }, { projectId: shared });
    const { id, deploymentId } = await consumer([input('one', json(source.id, 'one'))]);
    const planned = await agent.claim();
    await agent.finish(planned, plannedOutcome());
    await deploy(source.id);
    const changed = await agent.plan();
    assert.ok(changed);
    await agent.apply(changed, ['a'], { outputs: { one: text('second') } });
    await ok('approveDeployment', { id: deploymentId });
    const apply = await agent.claim();
    assert.deepEqual(apply.variables, planned.variables);
    assert.equal(apply.variables.terraform[0]?.value, 'first');
    await agent.apply(apply);
    await deploy(id);
    assert.equal((await agent.claim()).variables.terraform[0]?.value, 'second');
  });

  test('an attempt that is lost before it changed anything keeps the values of the first', async () => {
    const source = await deployed('repeated', { one: text('first') }, { projectId: shared });
    await consumer([input('one', json(source.id, 'one'))]);
    const first = await agent.claim();
    await agent.finish(first, { ...plannedOutcome(), result: 'internal', isLost: true });
    assert.deepEqual((await agent.claim()).variables, first.variables);
  });

  test('what cannot be resolved fails in the step of the variables, naming both ends', async () => {
    const closed = await projectNamed('closed', false);
    const secret = (await deployed('secret', { one: text('1') }, { projectId: closed })).id;
    const never = (await createIdle({ name: 'never', projectId: shared })).id;
    const gone = (await createIdle({ name: 'gone', projectId: shared })).id;
    await ok('deleteEnvironment', { id: gone });
    const cases: [object, RegExp][] = [
      [
        input('v', json(network, 'nope')),
        /output "nope" of environment "network", which has no output of that name: it has count, hidden, /,
      ],
      [input('v', json(network, 'constructor')), /no output of that name/],
      [
        input('v', json(never, 'x')),
        /output "x" of environment "never", which was never deployed successfully/,
      ],
      [input('v', json(gone, 'x')), new RegExp(`output "x" of environment ${gone}, which does not exist`)],
      [
        input('v', json('vpc', 'x')),
        /of environment vpc, which does not exist or which First admin key may not view/,
      ],
      [input('v', json(randomUUID(), 'x')), /which does not exist/],
      [
        input('v', json(secret, 'one')),
        /"secret", and the policy of its project "closed" does not allow that/,
      ],
      [input('v', json(network, 'hidden')), /contains a secret and was stored without it/],
      [input('v', json(network, 'vpc_id'), 1, { regex: '^subnet-' }), /whose value must match \^subnet-/],
      [
        input('v', json(network, 'none'), 1, { isRequired: true }),
        /which is empty, and the variable is required/,
      ],
      [
        input('v', '{"subEnvironmentAlias":"db","outputName":"x"}'),
        /sub-environment "db", and only environments of a workflow/,
      ],
    ];
    for (const [variable, expected] of cases) {
      const { id, deploymentId } = await consumer([variable, { name: 'fine', value: 'x' }]);
      const message = await failureOf(deploymentId);
      assert.match(message, /^Variable "v" of environment "app" refers to output /i);
      assert.match(message, expected);
      assert.doesNotMatch(message, /vpc-1|hunter2|\n/);
      assert.equal((await ok('getEnvironment', { id })).status, 'FAILED');
    }
    const both = await consumer([input('a', json(network, 'nope')), input('b', json(never, 'x'))]);
    assert.match(await failureOf(both.deploymentId), /"a" .*nope.*\n.*"b" .*never/);
  });

  test('work that comes after a failure is handed out at once', async () => {
    await consumer([input('v', json(network, 'nope'))]);
    const { id } = await createIdle({ name: 'next' });
    await deploy(id);
    assert.equal((await agent.claim()).environmentId, id);
  });

  test('outputs of what was destroyed are gone', async () => {
    const source = await deployed('short-lived', { one: text('1') }, { projectId: shared });
    await ok('destroyEnvironment', { id: source.id });
    await agent.run([]);
    const { deploymentId } = await consumer([input('one', json(source.id, 'one'))]);
    assert.match(await failureOf(deploymentId), /"short-lived", which is destroyed: deploy it first/);
  });

  test('a destroy uses the last values where the outputs are gone', async () => {
    const source = await deployed('left', { one: text('1'), two: text('2') }, { projectId: shared });
    const used = await createActive({
      configurationChanges: [
        input('one', json(source.id, 'one')),
        input('TWO', json(source.id, 'two'), 0),
        input('three', json(source.id, 'three'), 1, { value: '' }),
      ],
    });
    await ok('destroyEnvironment', { id: source.id });
    await agent.run([]);
    const body = { configurationChanges: [input('LATER', json(source.id, 'one'), 0)] };
    await failureOf((await deploy(used.id, body)).id);
    const { id } = await ok('destroyEnvironment', { id: used.id });
    const job = await agent.claim();
    assert.equal(job.deploymentId, id);
    assert.deepEqual(fieldsOf([...job.variables.terraform, ...job.variables.environment], 'name', 'value'), [
      ['one', '1'],
      ['TWO', '2'],
    ]);
  });

  test('environments that need each other fail, however long the way', async () => {
    const one = await deployed('one', { x: text('1') }, { projectId: shared });
    const self = { configurationChanges: [input('own', json(one.id, 'x'))] };
    assert.match(await failureOf((await deploy(one.id, self)).id), /each other: "one" → "one"/);
    const two = await deployed(
      'two',
      { x: text('2') },
      {
        projectId: shared,
        configurationChanges: [{ name: 'unused', value: 'x' }],
      },
    );
    const three = await deployed('three', { x: text('3') }, { projectId: shared });
    const needs = (id: string) => ({ configurationChanges: [input('own', json(id, 'x'))] });
    await deploy(two.id, needs(three.id));
    const next = await agent.plan();
    assert.ok(next);
    await agent.apply(next, ['a'], { outputs: { x: text('2') } });
    // One does not run, so its reference to two counts although it was never resolved.
    assert.match(await failureOf((await deploy(one.id, needs(one.id))).id), /"one" → "one"/);
    const last = await deploy(three.id, needs(two.id));
    assert.match(await failureOf(last.id), /each other: "three" → "two" → "three"/);
    await deploy(one.id, needs(two.id));
    // One is not a part of that cycle.
    assert.equal((await agent.claim()).environmentId, one.id);
  });

  test('who starts a run has to be allowed to view the source; of an automatic run, who made the environment', async () => {
    const own = await projectNamed('own');
    const roles = [{ organizationId: app.organizationId, projectId: own, role: 'Deployer' }];
    const as = await app.addKey({ [app.organizationId]: 'User' }, roles);
    const configurationChanges = [input('vpc', json(network, 'vpc_id'))];
    const { id } = await createIdle({ name: 'app', projectId: own, configurationChanges });
    const byKey = await ok('deployEnvironment', { id, body: {}, as });
    const message = await failureOf(byKey.id);
    assert.match(
      message,
      new RegExp(`of environment ${network}, which does not exist or which .* may not view$`),
    );
    assert.doesNotMatch(message, /"network"/);
    const byAdmin = await deploy(id);
    const job = await agent.claim();
    assert.equal(job.deploymentId, byAdmin.id);
    await agent.finish(job, plannedOutcome({ result: 'failed' }));
    const automatic = await deploy(id);
    const startedBy = "update deployment set started_by = 'envarium' where id = $1";
    await sql(startedBy, automatic.id);
    assert.equal((await agent.claim()).deploymentId, automatic.id);
  });

  test('environments of other organizations do not exist', async () => {
    const { id: organizationId } = await ok('createOrganization', { body: { name: 'elsewhere' } });
    const [project] = await ok('listProjects', { query: { organizationId } });
    const projectId = project?.id ?? '';
    await allow(projectId);
    const foreign = await deployed('foreign', { x: text('1') }, { organizationId, projectId });
    const { deploymentId } = await consumer([input('x', json(foreign.id, 'x'))]);
    const message = await failureOf(deploymentId);
    assert.match(message, new RegExp(`of environment ${foreign.id}, which does not exist`));
    assert.doesNotMatch(message, /"foreign"/);
  });

  test('a variable that cannot be a reference is refused when it is stored', async () => {
    const { id } = await createIdle();
    const refusal = async (status: number, variable: object) => {
      const body = { configurationChanges: [variable] };
      return (await refused('deployEnvironment', status, { id, body })).message;
    };
    for (const value of [
      'vpc_id',
      '{"outputName":"x"}',
      '{"environmentId":"e"}',
      '{"environmentId":7,"outputName":"x"}',
      '{"environmentId":"e","outputName":"x"',
      'null',
      '["e","x"]',
      '${envarium:e}',
      'prefix-${envarium:e:x}',
    ])
      assert.match(
        await refusal(422, input('v', value)),
        /configurationChanges\/0\/value of "v" .*environmentId/,
      );
    assert.match(
      await refusal(400, input('v', json('e', 'x'), 1, { isReadonly: true })),
      /isReadonly of "v".*only in scope PROJECT/,
    );
    assert.match(
      await refusal(400, input('ENVARIUM_REQUIRES_APPROVAL', json('e', 'x'), 0)),
      /must be known before/,
    );
    for (const value of [
      '',
      json('vpc', 'x'),
      '${envarium:vpc:x}',
      '{"subEnvironmentAlias":"a","outputName":"x"}',
    ]) {
      const configurationChanges = [input('later', value, 1, { regex: '^subnet' })];
      await deploy(id, { configurationChanges, deploymentType: 'dryRun' });
    }
  });
});
