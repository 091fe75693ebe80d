import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deploymentId,
  environmentId,
  type FakeReply,
  fakeDeployment,
  fakeEnvironment,
  fakeStream,
  runAgainst,
} from '../testing/fake-service.ts';

const change = (action: string, path: string, ...names: string[]) => ({
  action,
  path,
  attributes: names.map((name) => ({ name })),
});

function drift(more: object): Record<string, FakeReply> {
  const deployment = fakeDeployment({ type: 'driftDetection', ...more });
  return {
    'GET /environments': [fakeEnvironment()],
    [`POST /environments/${environmentId}/deployments`]: fakeDeployment({
      type: 'driftDetection',
      status: 'IN_PROGRESS',
    }),
    [`GET /environments/deployments/${deploymentId}`]: deployment,
    [`GET /environments/deployments/${deploymentId}/drift-status`]: { driftDeployment: deployment },
    [`GET /environments/deployments/${deploymentId}/events`]: fakeStream({ event: 'end', data: {} }),
  };
}

const settled = [change('update', 'random_id.name', 'keepers', 'prefix')];

test('attributes that only settled are listed, and are not drift', async () => {
  const plan = { resourceChanges: [], outputChanges: [], settled };
  const { status, stdout } = await runAgainst(['drift', 'web'], drift({ driftDetected: false, plan }));
  assert.equal(status, 0);
  assert.equal(
    stdout,
    `SETTLED  ADDRESS         ATTRIBUTES
Change   random_id.name  keepers, prefix
Settled attributes are not drift: the next deploy stores them in the state.
No drift.
driftDetection SUCCESS
`,
  );
});

test('with --json and --follow, each line is an event, and the deployment is the last one', async () => {
  const { status, stdout } = await runAgainst(
    ['drift', 'web', '--json', '--follow'],
    drift({ driftDetected: true }),
  );
  const events = stdout.trimEnd().split('\n');
  assert.equal(status, 2);
  assert.deepEqual(
    events.map((line) => (JSON.parse(line) as { event: string }).event),
    ['deployment', 'end', 'deployment'],
  );
  const { data } = JSON.parse(events[2] ?? '') as { data: { id: string; driftDetected: boolean } };
  assert.deepEqual([data.id, data.driftDetected], [deploymentId, true]);
  const waited = await runAgainst(['drift', 'web', '--json'], drift({ driftDetected: true }));
  assert.ok('driftDeployment' in (JSON.parse(waited.stdout) as object), 'without --follow: one document');
});

test('a check for drift that finds none says that a check of the code failed', async () => {
  const diagnostics = [
    { severity: 'check', step: 'tf:plan', text: 'Warning: Check block assertion failed\n\nno answer' },
    { severity: 'warning', step: 'tf:plan', text: 'Warning: Deprecated' },
  ];
  const { status, stdout } = await runAgainst(['drift', 'web'], drift({ driftDetected: false, diagnostics }));
  assert.equal(status, 0);
  assert.match(stdout, /^No drift, but a check failed\.$/m);
  assert.match(stdout, /^1 failed check, 1 warning: envarium deployments show /m);
});

test('deployments show has everything that the tool reported', async () => {
  const diagnostics = ['one', 'two'].map((text) => ({
    severity: 'error',
    step: 'tf:plan',
    text: `Error: ${text}\n\nmore`,
  }));
  const { stdout } = await runAgainst(['deployments', 'show', deploymentId], {
    ...drift({ status: 'FAILURE', startedByUser: {}, diagnostics }),
    [`GET /deployments/${deploymentId}/steps`]: [],
  });
  assert.match(stdout, /^Error in tf:plan\n {2}Error: one\n\n {2}more\n\nError in tf:plan\n {2}Error: two$/m);
});

test('drift and settled attributes are listed separately', async () => {
  const resourceChanges = [change('update', 'local_file.web', 'content'), change('metadata', 'data.x')];
  const plan = { resourceChanges, outputChanges: [], settled };
  const { status, stdout } = await runAgainst(['drift', 'web'], drift({ driftDetected: true, plan }));
  assert.equal(status, 2);
  assert.match(stdout, /^DRIFT +ADDRESS +ATTRIBUTES\nChange +local_file\.web +content\nSETTLED /);
  assert.match(stdout, /^Drift was found\.$/m);
  const remediation = { strategy: 'CODE_TO_CLOUD', deploymentId: 'next' };
  const repaired = await runAgainst(['drift', 'web'], drift({ driftDetected: true, plan, remediation }));
  assert.match(repaired.stdout, /^A deploy was started to repair it: next$/m);
  assert.doesNotMatch(stdout, /data\.x/);
});
