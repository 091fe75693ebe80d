import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deploymentId,
  environmentId,
  fakeDeployment,
  fakeEnvironment,
  fakeStream,
  runAgainst,
} from '../testing/fake-service.ts';

/** Title, clipboard, a cleared screen, C1, a carriage return, hidden text, a reordered line, and another line. */
const attack =
  'x\u001b]0;t\u0007\u001b]52;c;eA==\u001b\\\u001b[2J\u009b6n\u009d0;t\u009c\r\b\u001b[8m\u202E\u001bPq\u001b\\\nforged';

const deployment = fakeDeployment({
  status: 'FAILURE',
  type: 'driftDetection',
  comment: attack,
  environmentId: attack,
  startedByUser: { name: attack },
  reviewersUsers: [{ user: { name: attack }, action: attack }],
  failedCommand: attack,
  error: { message: attack },
  planHash: attack,
  waitingFor: { kind: 'agent', text: attack, since: '2026-11-21T12:00:00Z' },
  plan: {
    resourceChanges: [{ action: 'update', path: attack, attributes: [{ name: attack }] }],
    settled: [{ action: 'update', path: attack, attributes: [{ name: attack }] }],
    outputChanges: [],
  },
  planSummary: { added: 0, changed: 1, destroyed: 0 },
  driftDetected: true,
  output: { [attack]: { value: attack, sensitive: false } },
  unrecordedResources: [{ address: attack, id: attack, certainty: attack }],
  targets: [attack],
});
const step = { deploymentLogId: deploymentId, name: attack, status: 'FAILURE' };
const environment = fakeEnvironment({
  name: attack,
  description: attack,
  tags: [attack],
  latestDeploymentLog: deployment,
  isLocked: true,
  lockStatus: { reason: attack, updatedBy: attack },
  nextScheduledDates: {},
  user: { name: attack },
});
const replies = {
  'GET /environments': [environment],
  [`GET /environments/${environmentId}`]: environment,
  [`PUT /environments/${environmentId}`]: environment,
  [`POST /environments/${environmentId}/lock`]: { isLocked: true },
  [`GET /environments/${environmentId}/deployments`]: [deployment],
  [`POST /environments/${environmentId}/deployments`]: deployment,
  [`GET /environments/deployments/${deploymentId}`]: deployment,

  [`GET /deployments/${deploymentId}/steps`]: [step],
  [`GET /environments/deployments/${deploymentId}/events`]: fakeStream(
    { event: 'status', data: { status: 'QUEUED', waitingFor: { kind: 'agent', text: attack } } },
    { event: 'step', data: step },
    { event: 'log', data: { step: attack, text: attack.slice(0, 9) } },
    { event: 'log', data: { step: attack, text: attack.slice(9) } },
    {
      event: 'log',
      data: { step: attack, base64: Buffer.from([0x9b, 0x32, 0x4a, 0xff]).toString('base64') },
    },
    { event: 'status', data: { status: 'FAILURE' } },
    { event: 'end', data: {} },
  ),
};

const dangerous = /[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\n\t]]/v;

for (const [call, isOneLine] of [
  [['environment', 'list'], true],
  [['environment', 'show', environmentId], false],
  [['environment', 'archive', environmentId], true],
  [['environment', 'list', '--json'], true],
  [['deployments', 'list', environmentId], true],
  [['deployments', 'show', deploymentId], false],
  [['outputs', deploymentId], true],
  [['outputs', deploymentId, '--name', attack, '--json'], true],
  [['outputs', deploymentId, '--name', `no ${attack}`], false],
  [['logs', deploymentId, '--follow'], false],
  [['logs', deploymentId, '--follow', '--json'], true],
  [['logs', deploymentId, '--step', 'none'], true],
  [['drift', environmentId], false],
  [['deploy', environmentId, '--wait'], false],
  [['deploy', environmentId], true],
  [['deploy', 'ambiguous'], true],
  [['environment', `no ${attack}`], false],
] as const) {
  const name = call.map((word) => word.replace(attack, '<attack>')).join(' ');
  test(`envarium ${name} prints what others wrote without its control characters`, async () => {
    const isAmbiguous = call[1] === 'ambiguous';
    const { stdout, stderr } = await runAgainst(
      call,
      isAmbiguous
        ? {
            'GET /environments': [environment, { ...environment, projectId: 'p2' }],
            'GET /projects': [{ id: 'p2', name: attack }],
          }
        : replies,
    );
    const printed = stdout + stderr;
    assert.match(printed, /forged/, printed);
    assert.doesNotMatch(printed, dangerous, JSON.stringify(printed));
    if (isOneLine) assert.doesNotMatch(printed, /^forged/m, printed);
  });
}

test('errors of the service are printed without control characters', async () => {
  const { status, stderr } = await runAgainst(['environment', 'list'], {
    'GET /environments': (_, response) => {
      response.statusCode = 400;
      response.setHeader('x-envarium-warning', 'w\u009b2J');
      response.end(JSON.stringify({ code: 'bad_request', message: attack }));
    },
  });
  assert.equal(status, 2);
  assert.match(stderr, /\\x1b\]0;t\\x07/);
  assert.doesNotMatch(stderr, dangerous);
});
