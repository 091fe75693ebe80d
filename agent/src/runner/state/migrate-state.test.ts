import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type Ran, withTerraform } from '../../../testing/runner-setup.ts';
import { endProcessesOf } from '../../processes/end-processes.ts';

/** A server that stores a state for Terraform's http backend. */
interface Keeper {
  readonly url: string;
  /** The requests it received, as method and path. */
  readonly requests: string[];
  /** The state that it returns; absent: it has none. */
  state?: string;
  /** If set, a reader waits until this is called. */
  hold?: (answer: () => void) => void;
}

async function startKeeper(t: TestContext): Promise<Keeper> {
  const requests: string[] = [];
  const answer = (response: ServerResponse) => {
    response
      .writeHead(keeper.state === undefined ? 204 : 200, { 'content-type': 'application/json' })
      .end(keeper.state);
  };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (keeper.hold) keeper.hold(() => answer(response));
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const keeper: Keeper = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/kept`, requests };
  return keeper;
}

const state = (serial: number) =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial,
    lineage: 'kept-elsewhere',
    outputs: {},
    resources: [
      {
        mode: 'managed',
        type: 'terraform_data',
        name: 'it',
        provider: 'provider["terraform.io/builtin/terraform"]',
        instances: [
          {
            schema_version: 0,
            attributes: { id: 'made-before', input: null, output: null, triggers_replace: null },
          },
        ],
      },
    ],
  });

const code = (url: string) =>
  `terraform {\n  backend "http" {\n    address = "${url}"\n  }\n}\nresource "terraform_data" "it" {}\n`;
const forced = { state: { isForced: true } } satisfies Partial<Job>;
const copies = (ran: Pick<Ran, 'spool'>) => readdirSync(ran.spool.states);
const onlyReads = (keeper: Keeper) => keeper.requests.every((line) => line.startsWith('GET '));

test('a run imports the state from the backend of the code and plans with it', withTerraform, async (t) => {
  const keeper = await startKeeper(t);
  keeper.state = state(7);
  const setup = createSetup(t, { 'main.tf': code(keeper.url) });
  const ran = await expectResult('planned', setup.run(setup.job(forced)));
  assert.deepEqual([ran.outcome.isStateOurs, ran.outcome.hasResourceChanges], [true, false]);
  assert.deepEqual(copies(ran), ['1.tfstate']);
  const kept = JSON.parse(readFileSync(join(ran.spool.states, '1.tfstate'), 'utf8')) as {
    serial: number;
    lineage: string;
  };
  assert.deepEqual([kept.serial, kept.lineage], [7, 'kept-elsewhere']);
  assert.match(
    ran.log('variables:setup'),
    /State read from the backend http of the code: serial 7, lineage kept-elsewhere, 1 resources/,
  );
  assert.ok(onlyReads(keeper), keeper.requests.join());
});

test('a run without an apply only reads the state of the backend', withTerraform, async (t) => {
  const keeper = await startKeeper(t);
  keeper.state = state(7);
  const setup = createSetup(t, { 'main.tf': code(keeper.url) });
  for (const type of ['dryRun', 'prPlan', 'driftDetection'] as const) {
    const ran = await setup.run(setup.job({ ...forced, type }));
    assert.deepEqual(
      [ran.outcome.result, ran.outcome.hasResourceChanges],
      ['planned', false],
      JSON.stringify(ran.outcome.error),
    );
    assert.deepEqual(copies(ran), []);
  }
  assert.ok(onlyReads(keeper), keeper.requests.join());
});

test(
  'a run uses no state if the backend has none, and does not query the backend if the service has one',
  withTerraform,
  async (t) => {
    const keeper = await startKeeper(t);
    const setup = createSetup(t, { 'main.tf': code(keeper.url) });
    const none = await setup.run(setup.job(forced));
    assert.deepEqual([none.outcome.result, copies(none)], ['planned', []]);
    assert.match(none.log('variables:setup'), /The backend http of the code contains no state/);
    keeper.state = state(7);
    const requests = keeper.requests.length;
    const ours = await setup.run(setup.job(forced), { state: Buffer.from(state(3)) });
    assert.deepEqual([ours.outcome.result, copies(ours), keeper.requests.length], ['planned', [], requests]);
  },
);

test(
  'a backend that returns no state fails the run with its name, and nothing is imported',
  withTerraform,
  async (t) => {
    const keeper = await startKeeper(t);
    const setup = createSetup(t, { 'main.tf': code(keeper.url) });
    for (const broken of ['{"version":4', '{"version":9,"serial":1,"lineage":"x"}']) {
      keeper.state = broken;
      const ran = await setup.run(setup.job(forced));
      assert.equal(ran.outcome.result, 'failed', broken);
      assert.match(failureMessageOf(ran), /backend http of the code.* and nothing was changed/, broken);
      assert.deepEqual(copies(ran), []);
    }
  },
);

test('code with its own backend is refused if the service stores a state', withTerraform, async (t) => {
  const keeper = await startKeeper(t);
  const setup = createSetup(t, { 'main.tf': code(keeper.url) });
  const ran = await setup.run(setup.job(), { state: Buffer.from(state(3)) });
  assert.match(
    failureMessageOf(ran),
    /the service stores the state of this environment \(version state-1, serial 3\).*Set isRemoteBackend/,
  );
  assert.deepEqual(keeper.requests, []);
});

test(
  'a runner that is killed while it reads from the backend leaves nothing; the next one imports the state',
  withTerraform,
  async (t) => {
    const keeper = await startKeeper(t);
    keeper.state = state(7);
    const setup = createSetup(t, { 'main.tf': code(keeper.url) });
    const waiting: (() => void)[] = [];
    keeper.hold = (answer) => void waiting.push(answer);
    const running = setup.start(setup.job(forced));
    running.ended.catch(() => undefined);
    await running.until(() => waiting.length > 0, 'a request to the backend');
    running.child.kill('SIGKILL');
    await new Promise((resolve) =>
      running.child.exitCode === null && running.child.signalCode === null
        ? running.child.once('exit', resolve)
        : resolve(null),
    );
    delete keeper.hold;
    for (const answer of waiting) answer();
    if (setup.slotUid !== null) await endProcessesOf(setup.slotUid);
    assert.deepEqual([copies(running), existsSync(running.spool.outcome)], [[], false]);
    const again = await setup.run(setup.job(forced));
    assert.deepEqual(
      [again.outcome.result, copies(again)],
      ['planned', ['1.tfstate']],
      JSON.stringify(again.outcome.error),
    );
    assert.ok(onlyReads(keeper), keeper.requests.join());
  },
);
