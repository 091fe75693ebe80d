import assert from 'node:assert/strict';
import { beforeEach, type TestContext, test } from 'node:test';
import pg from 'pg';
import { startAgentTests } from '../../../testing/start.ts';

const { agent, ok, createActive, deploy, forgetWork } = await startAgentTests();
beforeEach(() => forgetWork());

interface Statement {
  readonly sql: string;
  readonly values: unknown;
}

/** Runs `work`. @returns the statements that reached the database during it */
async function statementsOf(t: TestContext, work: () => Promise<unknown>): Promise<Statement[]> {
  const query = t.mock.method(pg.Client.prototype, 'query');
  await work();
  const calls = query.mock.calls.map((call): Statement => {
    const [statement, values] = call.arguments as unknown as [string | pg.QueryConfig, unknown];
    return typeof statement === 'string'
      ? { sql: statement, values }
      : { sql: statement.text, values: statement.values };
  });
  query.mock.restore();
  return calls.filter(({ sql }) => !/^(begin|commit)$/.test(sql));
}

function repeated(statements: readonly Statement[], pattern: RegExp): string[] {
  const reads = statements.filter(({ sql }) => pattern.test(sql)).map((each) => JSON.stringify(each));
  return [...new Set(reads.filter((text, index) => reads.indexOf(text) !== index))];
}

const writes = (statements: readonly Statement[], table: string) =>
  statements.filter(({ sql }) => new RegExp(`^(update|insert into) "${table}"`).test(sql)).length;

const reads = (statements: readonly Statement[], table: string) =>
  statements.filter(({ sql }) => new RegExp(`^select .*from "${table}"`).test(sql)).length;

for (const [name, body, isQueued] of [
  ['a plain deploy', {}, false],
  ['a queued deploy', {}, true],
  ['a task', { deploymentType: 'task', taskPayload: 'true' }, false],
  [
    'a deploy with changes',
    { envName: 'other', userRequiresApproval: true, ttl: { type: 'INFINITE' } },
    false,
  ],
] as const)
  test(`${name} writes each row once and reads each fact once`, async (t) => {
    const { id } = await createActive();
    if (isQueued) await deploy(id);
    const statements = await statementsOf(t, () => deploy(id, body));
    const text = statements.map(({ sql }) => sql).join('\n');
    assert.equal(writes(statements, 'environment'), 1, text);
    assert.equal(writes(statements, 'deployment'), 1, text);
    assert.equal(writes(statements, 'template'), 0, text);
    assert.equal(writes(statements, 'job'), isQueued ? 0 : 1, text);
    assert.deepEqual(repeated(statements, /^select (?!pg_notify)/), []);
    for (const table of ['template', 'state_lock', 'state_version', 'app_user', 'project'])
      assert.ok(reads(statements, table) <= 1, `${table} is read once:\n${text}`);
  });

test('a destroy of what was deployed last asks for its policies with its project', async (t) => {
  const { id } = await createActive();
  const statements = await statementsOf(t, () => ok('destroyEnvironment', { id }));
  const asking = statements.filter(({ sql }) => sql.includes('flow_assignment'));
  assert.equal(asking.length, 1, asking.map(({ sql }) => sql).join('\n'));
});

test('what a deployment has found stays in the database until it is read', async (t) => {
  const { id: environmentId } = await createActive();
  const statements = await statementsOf(t, async () => {
    const { id } = await deploy(environmentId, { userRequiresApproval: true });
    await agent.plan();
    await ok('approveDeployment', { id });
    await agent.apply(await agent.claim());
  });
  const large = /(\*|"(plan|output|sealed_output|resources|git_metadata|module_versions)")/;
  const isReadOf = (sql: string) =>
    large.test(/^select (.*?) from "deployment"/s.exec(sql)?.[1] ?? '') ||
    large.test(/"deployment" .* returning (.*)$/s.exec(sql)?.[1] ?? '');
  assert.deepEqual(
    statements.filter(({ sql }) => isReadOf(sql)),
    [],
  );
});
