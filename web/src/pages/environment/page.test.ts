import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '#contract/deployments/plan.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { newRow } from '../../forms/variables/rows.ts';
import { type DeployValues, deployBody } from './actions/deploy-body.ts';
import { whyNotStart } from './facts/facts.ts';
import { groupOutputs, stateOutput, valueText } from './facts/outputs.ts';
import { findResources, linesOf } from './facts/resources.ts';
import { durationsOf, durationWords } from './overview/durations.ts';

const everything = { whyNot: () => undefined };
const active = { status: 'ACTIVE', isLocked: false, isArchived: false } as const;

test('what cannot be started says why', () => {
  assert.equal(whyNotStart(active, 'destroy', everything), undefined);
  assert.match(
    whyNotStart({ ...active, status: 'INACTIVE' }, 'destroy', everything) ?? '',
    /Nothing is deployed/,
  );
  assert.match(
    whyNotStart({ ...active, status: 'DESTROY_IN_PROGRESS' }, 'destroy', everything) ?? '',
    /already/,
  );
  assert.match(whyNotStart({ ...active, isArchived: true }, 'destroy', everything) ?? '', /archived/);
  assert.equal(whyNotStart({ ...active, isArchived: true }, 'deploy', everything), undefined);
  const locked = {
    ...active,
    isLocked: true,
    lockStatus: { reason: 'audit', updatedBy: 'u', updatedAt: '' },
  };
  assert.match(whyNotStart(locked, 'deploy', everything) ?? '', /locked \(audit\)/);
  const whyNot = (right: string) => (right === 'RUN_TASK' ? 'no RUN_TASK' : undefined);
  assert.equal(whyNotStart(active, 'task', { whyNot }), 'no RUN_TASK');
  assert.equal(whyNotStart(active, 'deploy', { whyNot }), undefined);
});

const values: DeployValues = {
  kind: 'deploy',
  comment: '',
  revision: 'main',
  templateId: '',
  targets: '',
  requiresApproval: true,
  taskPayload: 'echo',
  importUnrecorded: false,
  hours: '',
};
const environment = { requiresApproval: true, latestDeploymentLog: { blueprintRevision: 'main' } } as never;

test('a deployment that changes nothing of the environment sends its type only', () => {
  assert.deepEqual(deployBody(values, environment, []), { deploymentType: 'deploy' });
});

test('a deployment sends what differs from the environment', () => {
  const row = { ...newRow('k'), name: 'region', value: 'eu' };
  const all = {
    comment: ' why ',
    revision: 'v2',
    targets: 'a.b["x,y"]\nmodule.c',
    requiresApproval: false,
    hours: '5',
  };
  assert.deepEqual(deployBody({ ...values, ...all }, environment, [row]), {
    deploymentType: 'deploy',
    comment: 'why',
    blueprintRevision: 'v2',
    targets: ['a.b["x,y"]', 'module.c'],
    configurationChanges: [{ name: 'region', type: 1, value: 'eu' }],
    userRequiresApproval: false,
    ttl: { type: 'HOURS', value: '5' },
  });
});

test('a drift check sends neither targets nor variables, a task its commands', () => {
  const row = { ...newRow('k'), name: 'region' };
  assert.deepEqual(deployBody({ ...values, kind: 'driftDetection', targets: 'a' }, environment, [row]), {
    deploymentType: 'driftDetection',
  });
  assert.deepEqual(deployBody({ ...values, kind: 'task' }, environment, []), {
    deploymentType: 'task',
    taskPayload: 'echo',
  });
});

const resource = (name: string, type = 'server', moduleName = ''): Resource => ({
  provider: 'cloud',
  ...{ type, name, moduleName },
});

test('resources are grouped by module and type, in the order of their numbers', () => {
  const all = [resource('b[10]'), resource('b[2]'), resource('net', 'network', 'module.net')];
  assert.deepEqual(
    linesOf(all).map((line) => (line.kind === 'resource' ? line.resource.name : `${line.kind} ${line.name}`)),
    ['module ', 'type server', 'b[2]', 'b[10]', 'module module.net', 'type network', 'net'],
  );
  assert.equal(linesOf([resource('a')])[0]?.kind, 'type');
  assert.deepEqual(
    findResources(all, 'MODULE net').map(({ name }) => name),
    ['net'],
  );
});

test('outputs are grouped by unit only where a run had several', () => {
  const one = { value: 1, sensitive: false, type: 'number' };
  const groups = (isByUnit: boolean) =>
    groupOutputs({ 'live/vpc.id': one }, '', isByUnit).map(({ unit, all }) => [unit, all[0]?.[1]]);
  assert.deepEqual(groups(true), [['live/vpc', 'id']]);
  assert.deepEqual(groups(false), [['', 'live/vpc.id']]);
  assert.equal(valueText('text'), 'text');
  assert.equal(valueText([1]), '[\n  1\n]');
  assert.equal(valueText(parseExactly('9223372036854775807')), '9223372036854775807');
});

test('a sensitive value is found in the state of its unit', () => {
  assert.deepEqual(stateOutput({ outputs: { a: { value: 1 } } }, 'a'), { value: 1 });
  const units = { 'live/vpc': { outputs: { id: { value: 2 } } } };
  assert.deepEqual(stateOutput({ units }, 'live/vpc.id'), { value: 2 });
  assert.equal(stateOutput({ outputs: {} }, 'a'), undefined);
});

test('durations exist in words as well', () => {
  const took = (seconds: number, status: 'SUCCESS' | 'FAILURE') => ({
    startedAt: '2030-01-01T00:00:00.000Z',
    finishedAt: new Date(Date.UTC(2030, 0, 1, 0, 0, seconds)).toISOString(),
    status,
  });
  const all = durationsOf([
    took(30, 'FAILURE'),
    took(20, 'SUCCESS'),
    { ...took(1, 'SUCCESS'), finishedAt: null },
  ]);
  assert.deepEqual(all, [
    { seconds: 20, isFailed: false },
    { seconds: 30, isFailed: true },
  ]);
  assert.match(durationWords(all), /last 2 deployments.*longest 30 s.*1 failed/);
  assert.equal(durationWords([]), 'No deployment has ended yet.');
});
