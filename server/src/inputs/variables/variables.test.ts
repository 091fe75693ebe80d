import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import type { Job } from '#protocol/messages/job.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { deploy } from '../../../testing/environment.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { saveVariables, variableRow } from '../../rows/variables/variable-store.ts';
import { readLevels } from './read-layers.ts';
import { resolvedOf } from './resolve-variables.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused, sql, add, createBody, createEnvironment, createIdle, deploymentOf } = tests;

beforeEach(async () => {
  for (let job = await agent.claimAny(); job; job = await agent.claimAny())
    await agent.finish(job, plannedOutcome());
});

/** Deploys with changes of variables. @returns what the agent gets, and what readers see */
async function deployWith(environmentId: string, configurationChanges: unknown) {
  const { id } = await deploy(app, environmentId, { deploymentType: 'dryRun', configurationChanges });
  const job = await agent.claim();
  assert.equal(job.deploymentId, id);
  await agent.finish(job, plannedOutcome());
  return { job, variables: (await deploymentOf(id)).variables ?? [] };
}

const valueOf = (job: Job, name: string) =>
  [...job.variables.environment, ...job.variables.terraform].find((each) => each.name === name)?.value;

test('variables reach the run according to their type, and readers with their scope', async () => {
  covers('deployEnvironment', 'body.configurationChanges');
  covers('createEnvironmentWithoutTemplate', 'body.configurationChanges');
  covers('VariableChange', 'name', 'value', 'type', 'isSensitive', 'schema', 'description');
  covers('Deployment', 'variables');
  covers('DeploymentVariable', 'name', 'scope', 'type', 'value', 'isSensitive', 'scopeId', 'id');
  const environment = await createIdle({ configurationChanges: { name: 'FIRST', value: 'one' } });
  const { job, variables } = await deployWith(environment.id, [
    { name: 'size', type: 1, value: '[1, 2]', schema: { format: 'HCL' }, description: 'how many' },
    { name: 'size', type: 0, value: 'as environment variable' },
    { name: 'token', type: 1, value: 'planted-secret-2', isSensitive: true },
    { name: 'empty', type: 1 },
  ]);
  assert.deepEqual(fieldsOf(job.variables.environment, 'name', 'value'), [
    ['FIRST', 'one'],
    ['size', 'as environment variable'],
  ]);
  assert.deepEqual(job.variables.terraform, [
    { name: 'size', value: '[1, 2]', format: 'HCL', isSensitive: false, scope: 'ENVIRONMENT' },
    { name: 'token', value: 'planted-secret-2', isSensitive: true, scope: 'ENVIRONMENT' },
  ]);
  assert.ok(job.secrets.includes('planted-secret-2'));
  const token = variables.find(({ name }) => name === 'token');
  assert.deepEqual(
    [token?.value, token?.isSensitive, token?.scope, token?.scopeId, token?.type],
    ['********', true, 'ENVIRONMENT', environment.id, 1],
  );
  const kept = await ok('listVariables', {
    query: { organizationId: app.organizationId, environmentId: environment.id },
  });
  const size = kept.find(({ name, type }) => name === 'size' && type === 1);
  assert.equal(size?.description, 'how many');
  assert.ok(variables.some(({ id }) => id === size.id));
});

test('a value of any content, and of 1 MB, arrives as it was sent', async () => {
  const environment = await createIdle();
  const values = {
    quotes: `"'\`\\`,
    lines: 'a\r\nb\n\tc',
    template: '${var.x} %{ if true } $${y}',
    unicode: 'ü€😀\u2028',
    huge: 'x'.repeat(1024 * 1024),
    blank: ' ',
    option: '-var=a',
    percent: '%s %00',
  };
  const { job, variables } = await deployWith(
    environment.id,
    Object.entries(values).map(([name, value]) => ({ name, value, type: 1 })),
  );
  for (const [name, value] of Object.entries(values)) {
    assert.equal(valueOf(job, name), value);
    assert.equal(variables.find((each) => each.name === name)?.value, value);
  }
});

test('a secret is not in plain text in any table or file', async () => {
  const environment = await createEnvironment({
    configurationChanges: [
      { name: 'PASSWORD', value: 'planted-secret-3', isSensitive: true },
      { name: 'public', value: 'planted-public', type: 1 },
    ],
    deployRequest: {
      customServiceEnvironmentVariables: {
        vcsAccessToken: 'planted-secret-4',
        oidcToken: 'planted-secret-5',
        prAuthor: 'ada',
      },
    },
    repository: 'https://ada:planted-secret-6@git.example.com/x.git',
  });
  await add('GitToken', 'token', { value: 'planted-secret-7' });
  const job = await agent.claim();
  assert.deepEqual(
    [
      job.systemVariables.ENVARIUM_VCS_ACCESS_TOKEN,
      job.systemVariables.ENVARIUM_OIDC_TOKEN,
      job.systemVariables.ENVARIUM_PR_AUTHOR,
    ],
    ['planted-secret-4', 'planted-secret-5', 'ada'],
  );
  for (const secret of ['planted-secret-3', 'planted-secret-4', 'planted-secret-5', 'planted-secret-6'])
    assert.ok(job.secrets.includes(secret), secret);
  await agent.putBlob(job, 'plan', 'planted-secret-8');
  // Too large for a row: a file.
  await agent.putBlob(job, 'tree', 'planted-secret-8 '.repeat(10_000));
  await agent.finish(job, plannedOutcome());
  const shown = await deploymentOf(environment.latestDeploymentLogId ?? '');
  assert.partialDeepStrictEqual(shown.customServiceEnvironmentVariables, {
    vcsAccessToken: '********',
    oidcToken: '********',
    prAuthor: 'ada',
  });
  const rows = await sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  for (const { name } of rows) {
    const found = await sql<{ text: string }>(`select t::text as text from ${name} t`);
    for (const { text } of found) {
      assert.doesNotMatch(text, /planted-secret/, name);
      assert.ok(!text.includes(Buffer.from('planted-secret').toString('hex')), name);
    }
  }
  const files = readdirSync(app.folder, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  assert.ok(files.length > 1);
  for (const file of files)
    assert.ok(!readFileSync(join(file.parentPath, file.name)).includes('planted-secret'), file.name);
  assert.doesNotMatch(app.logged.join('\n'), /planted-secret/);
  await ok('cancelDeployment', { id: shown.id ?? '' });
});

test('a returned mask keeps the value, a new value replaces it, and making it visible requires one', async () => {
  covers('VariableChange', 'id', 'toDelete');
  const environment = await createIdle({
    configurationChanges: [{ name: 'PASSWORD', value: 'planted-secret-9', isSensitive: true }],
  });
  const first = await deployWith(environment.id, []);
  const row = first.variables[0] ?? assert.fail('no variable');
  const { createdAt: _, ...edited } = {
    ...row,
    createdAt: '',
    isEdited: true,
    originalVariableScope: 'ENVIRONMENT',
    overwrites: null,
    organizationId: app.organizationId,
  };
  for (const change of [edited, { name: 'PASSWORD', value: '********' }, { id: row.id, description: 'd' }]) {
    assert.equal(valueOf((await deployWith(environment.id, [change])).job, 'PASSWORD'), 'planted-secret-9');
  }
  for (const change of [
    { id: row.id, isSensitive: false },
    { ...edited, isSensitive: false },
  ]) {
    await refused('deployEnvironment', 400, /\/body\/configurationChanges\/value/, {
      id: environment.id,
      body: { configurationChanges: change },
    });
  }
  const opened = await deployWith(environment.id, [{ id: row.id, isSensitive: false, value: 'now public' }]);
  assert.deepEqual(
    [valueOf(opened.job, 'PASSWORD'), opened.variables[0]?.value],
    ['now public', 'now public'],
  );
  await refused('deployEnvironment', 400, /\/body\/configurationChanges\/value/, {
    id: environment.id,
    body: { configurationChanges: { name: 'NEW', value: '********', isSensitive: true } },
  });
  const removed = await deployWith(environment.id, [{ ...row, toDelete: true }]);
  assert.deepEqual(removed.variables, []);
});

/** A variable of the project, which its environments inherit. */
async function insertOuter(name: string, more: object = {}): Promise<string> {
  const home = {
    scope: 'PROJECT',
    scopeId: app.projectId,
    organizationId: app.organizationId,
    projectId: app.projectId,
  } as const;
  const values = {
    name,
    type: 0,
    value: 'outer',
    isSensitive: false,
    isReadonly: false,
    isRequired: false,
    isOutput: null,
    regex: null,
    schema: null,
    description: null,
    ...more,
  } as const;
  const row = variableRow(app.context, home, values, app.admin.id);
  await saveVariables(app.context.db, [row]);
  return row.id;
}

test('the id of an inherited variable means an override, and the inherited one is unchanged', async () => {
  const id = await insertOuter('REGION');
  const environment = await createIdle();
  const inherited = (await deployWith(environment.id, [])).variables.find((row) => row.id === id);
  assert.deepEqual([inherited?.scope, inherited?.value], ['PROJECT', 'outer']);
  const changed = await deployWith(environment.id, [{ ...inherited, value: 'here' }]);
  const [own] = changed.variables.filter(({ name }) => name === 'REGION');
  assert.deepEqual([own?.scope, own?.scopeId, own?.value], ['ENVIRONMENT', environment.id, 'here']);
  assert.equal(valueOf((await deployWith(environment.id, [{ id, value: 'again' }])).job, 'REGION'), 'again');
  assert.equal(valueOf((await deployWith(environment.id, [{ id, toDelete: true }])).job, 'REGION'), 'outer');
  const secret = await insertOuter('HIDDEN', { isSensitive: true });
  const overridden = await deployWith(environment.id, [{ id: secret, value: 'planted-secret-3' }]);
  assert.equal(overridden.variables.find(({ name }) => name === 'HIDDEN')?.value, '********');
  const masked = [{ name: 'HIDDEN', type: 0, isSensitive: true, value: '********' }];
  const { message } = await refused('deployEnvironment', 400, {
    id: (await createIdle()).id,
    body: { configurationChanges: masked },
  });
  assert.match(message, /\/body\/configurationChanges\/0\/value of "HIDDEN" is the placeholder/);
  await app.context.db.deleteFrom('variable').where('id', 'in', [id, secret]).execute();
});

test('an id that belongs to no variable here is refused, and the variable of that name is unchanged', async () => {
  const [one, two] = [
    await createIdle({ configurationChanges: { name: 'ZONE', value: 'north' } }),
    await createIdle({ configurationChanges: { name: 'ZONE', value: 'south' } }),
  ];
  const row = (await deployWith(one.id, [])).variables.find(({ name }) => name === 'ZONE');
  for (const id of [randomUUID(), 'mistaken', row?.id]) {
    const change = { id, name: 'ZONE', value: 'lost' };
    for (const [configurationChanges, where] of [
      [change, '/body/configurationChanges/id'],
      [[{ name: 'A', value: 'a' }, change], '/body/configurationChanges/1/id'],
      [{ ...change, toDelete: true }, '/body/configurationChanges/id'],
    ] as const) {
      const request = { id: two.id, body: { configurationChanges } };
      const { message } = await refused('deployEnvironment', 400, request);
      assert.equal(
        message,
        `${where} does not match a variable of this environment or of a scope it inherits from`,
      );
    }
    const wrapped = { deployRequest: { configurationChanges: [change] } };
    const { message } = await refused('deployEnvironment', 400, { id: two.id, body: wrapped });
    assert.match(message, /^\/body\/deployRequest\/configurationChanges\/0\/id /);
  }
  assert.equal(valueOf((await deployWith(one.id, [])).job, 'ZONE'), 'north');
  assert.equal(valueOf((await deployWith(two.id, [])).job, 'ZONE'), 'south');
});

test('a change applies to later deployments, not to one that already has its variables', async () => {
  const environment = await createIdle({ configurationChanges: { name: 'V', value: 'old' } });
  await deploy(app, environment.id);
  await deploy(app, environment.id, { configurationChanges: { name: 'V', value: 'new' } });
  assert.equal(valueOf(await agent.claim(), 'V'), 'old');
});

test('values that cannot be stored are refused by name, and nothing is written', async () => {
  covers('VariableChange', 'regex', 'isRequired');
  const environment = await createIdle({
    configurationChanges: [
      { name: 'A', value: 'a' },
      { name: 'B', value: 'b' },
    ],
  });
  const [a] = (await deployWith(environment.id, [])).variables;
  const refusals: [change: object, message: RegExp, status?: 422][] = [
    [{ name: 'a=b', value: 'v' }, /\/name.*"a=b"/],
    [{ name: 'a\nb', value: 'v' }, /\/name.*"a\\nb"/],
    [{ name: 'a\u0085b', value: 'v' }, /\/name.*control character/],
    [{ name: '', value: 'v' }, /\/name/],
    [{ name: 'a b', type: 1, value: 'v' }, /\/name "a b" is not a Terraform identifier/],
    [{ name: 'image.tag', type: 1, value: 'v' }, /\/name "image\.tag" is not a Terraform identifier/],
    [{ value: 'v' }, /\/name is required/],
    [{ name: 'TF_WORKSPACE', value: 'v' }, /TF_WORKSPACE/],
    [{ name: 'TF_DATA_DIR', value: 'v' }, /TF_DATA_DIR/],
    [{ name: 'TF_CLI_ARGS_plan', value: '-state=/x' }, /TF_CLI_ARGS_plan/],
    [{ name: 'TF_CLI_ARGS', value: '-input=false "-backup"=x' }, /TF_CLI_ARGS/],
    [{ name: 'LD_PRELOAD', value: '/x.so' }, /LD_PRELOAD/],
    [{ name: 'big', value: 'x'.repeat(140_000) }, /128 KiB/],
    [{ name: 'r', value: 'v', regex: '(' }, /\/regex/],
    [{ name: 'r', value: 'v', regex: '^[0-9]+$' }, /\/value.*\^\[0-9\]\+\$/],
    [{ name: 'r', value: `${'a'.repeat(60)}!`, regex: '^(a+)+$' }, /\/(value|regex)/],
    [{ name: 'r', isReadonly: true, isRequired: true }, /\/value.*required and read-only/],
    [{ name: 'e', value: 'c', schema: { enum: ['a', 'b'] } }, /\/value.*a, b/],
    [{ name: 'e', value: 'a', schema: { enum: ['a'], format: 'HCL' } }, /\/schema/],
    [{ name: 'e', value: 'a', isSensitive: true, schema: { enum: ['a'] } }, /\/isSensitive.* must be false/],
    [{ name: 'h', type: 1, value: '{ a = ', schema: { format: 'HCL' } }, /\/value.*HCL/, 422],
    [{ name: 'h', type: 1, value: '1\nother = 2', schema: { format: 'HCL' } }, /\/value.*HCL/, 422],
    [{ name: 'j', type: 1, value: '{"a":', schema: { format: 'JSON' } }, /\/value.*JSON/, 422],
    [{ name: 'd', value: 'v', description: 'x'.repeat(256) }, /\/description/],
    [{ id: a?.id, name: 'B' }, /\/name.*"B"/],
    [{ name: 'x'.repeat(256), value: 'v' }, /\/name/],
  ];
  for (const [change, message, status = 400] of refusals) {
    const body = {
      comment: 'refused',
      configurationChanges: [{ name: 'WRITTEN', value: 'too early' }, change],
    };
    const refusal = await refused('deployEnvironment', status, { id: environment.id, body });
    assert.match(refusal.message, message, JSON.stringify(change).slice(0, 100));
    assert.match(refusal.message, /\/body\/configurationChanges\/1/);
  }
  const { variables } = await deployWith(environment.id, []);
  assert.deepEqual(fieldOf(variables, 'name'), ['A', 'B']);
  assert.equal(
    (await ok('listDeployments', { id: environment.id })).filter(({ comment }) => comment === 'refused')
      .length,
    0,
  );
});

test('environment variables reach the run under any name that a process accepts', async () => {
  const names = [
    'with blank',
    'with-hyphen',
    'with.dot',
    '1digit',
    'größe',
    '变量',
    ' ',
    '$(id)',
    'a\u2028b',
  ];
  names.push('x'.repeat(255));
  const environment = await createIdle();
  const { job } = await deployWith(
    environment.id,
    names.map((name) => ({ name, value: `value of ${name}` })),
  );
  for (const name of names) assert.equal(valueOf(job, name), `value of ${name}`);
});

test('an empty value is checked when it is used', async () => {
  const definitions = [
    { name: 'e', value: '', schema: { enum: ['a', 'b'] } },
    { name: 'r', value: '', regex: '^x$' },
    { name: 'q', isRequired: true },
  ];
  for (const definition of definitions) {
    const environment = await createIdle({ configurationChanges: definition });
    await refused('deployEnvironment', 400, new RegExp(`"${definition.name}"`), { id: environment.id });
    await deployWith(environment.id, { name: definition.name, value: definition.name === 'e' ? 'a' : 'x' });
  }
  await refused('createEnvironmentWithoutTemplate', 400, {
    body: createBody({ configurationChanges: definitions[2] }),
  });
});

/** The most time of the processor that passes without a turn of the event loop, as a share of all that work takes. */
async function mostInOneTurn(work: () => Promise<unknown>): Promise<number> {
  const milliseconds = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;
  const began = process.cpuUsage();
  let most = 0;
  let before = began;
  const count = () => {
    most = Math.max(most, milliseconds(process.cpuUsage(before)));
    before = process.cpuUsage();
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  try {
    await work();
  } finally {
    clearImmediate(next);
  }
  return most / milliseconds(process.cpuUsage(began));
}

test('other requests are served while the expressions of many variables take long', async () => {
  // Each takes a millisecond or two: none is given up.
  const slow = { regex: '^(a+)+$|!$', value: `${'a'.repeat(18)}!` };
  const body = Array.from({ length: 120 }, (_, index) => ({
    ...({ scope: 'PROJECT', scopeId: app.projectId, organizationId: app.organizationId } as const),
    ...({ name: `SLOW_${index}`, type: 0, ...slow } as const),
  }));
  let saved: Variable[] = [];
  const writing = await mostInOneTurn(async () => (saved = await ok('saveVariables', { body })));
  assert.ok(writing < 0.5, `${writing} at once, while they are written`);
  const contents = await readLevels(app.context.db, [{ scope: 'PROJECT', scopeId: app.projectId }]);
  const resolving = await mostInOneTurn(async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => resolvedOf(app.context, contents)));
    for (const { unusable } of all) assert.deepEqual(unusable, []);
  });
  assert.ok(resolving < 0.2, `${resolving} at once, for four deployments`);
  for (const { id } of saved) await ok('deleteVariable', { id: id ?? '' });
});

test('values that only an apply would get are refused when a deployment is requested', async () => {
  const environment = await createIdle({ configurationChanges: [] });
  const deploy = (...changes: [name: string, value: string][]) => ({
    id: environment.id,
    body: { configurationChanges: changes.map(([name, value]) => ({ name, value })) },
  });
  for (const [name, value] of [
    ['TF_CLI_ARGS_apply', '-var size=hunter2'],
    ['ENVARIUM_CLI_ARGS_APPLY', '--var-file=hunter2'],
  ] as const) {
    const { message } = await refused('deployEnvironment', 400, deploy([name, value]));
    assert.match(
      message,
      new RegExp(`${name}: -var.* is not allowed, because an apply gets the values of its plan`),
    );
    assert.doesNotMatch(message, /hunter2/);
  }
  const later = deploy(['TF_VAR_size', '${ENVARIUM_REVIEWER_NAME}']);
  await refused('deployEnvironment', 400, /TF_VAR_size: its value cannot refer/, later);
  await ok('deployEnvironment', deploy(['TF_CLI_ARGS_apply', '-var a=1'], ['TF_CLI_ARGS_plan', '-var=a=1']));
});
