import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDrift } from '#contract/deployments/plan-counts.ts';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import type { DriverContext } from '../interface/driver.ts';
import { stackDiagnostics, stackReason } from './diagnostics.ts';
import { readPlan } from './plan.ts';
import { stackProgress } from './progress.ts';
import { type ChangeSetReport, eventLine, type StackChange } from './stacks/api/reports.ts';

const context: DriverContext = {
  job: jobOf({ tool: 'cloudformation' }),
  configurationFolder: '/work folder/tree',
  stateFolder: null,
  planFile: '/work folder/plan',
  temporaryFolder: '/srv/tmp',
  tree: treeFrom({}),
};

function change(more: Partial<StackChange>): StackChange {
  return {
    action: 'Modify',
    logicalId: 'It',
    physicalId: 'it-1',
    type: 'AWS::SQS::Queue',
    within: [],
    replacement: 'False',
    policy: null,
    properties: [],
    isDrifted: false,
    ...more,
  };
}

async function readingOf(...changes: StackChange[]) {
  const report: ChangeSetReport = {
    stackId: 'stack',
    changeSetId: 'changes',
    isCreation: false,
    state: 'ready',
    changes,
    hash: '',
  };
  return readPlan(context, new Map([['change-set.json', Buffer.from(JSON.stringify(report))]]));
}

test('rows show what happens to resources, and why', async () => {
  const name = { name: 'Name', before: 'a', after: 'b', recreation: 'Conditionally', cause: 'Role' };
  const { plan, planSummary } = await readingOf(
    change({ logicalId: 'Maybe', replacement: 'Conditional', properties: [name] }),
    change({ logicalId: 'Kept', action: 'Remove', replacement: null, policy: 'Retain' }),
    change({ logicalId: 'Gone', action: 'Remove', replacement: null, policy: 'Snapshot' }),
    change({ logicalId: 'Replaced', replacement: 'True', policy: 'ReplaceAndRetain' }),
    change({ logicalId: 'Same', action: 'SyncWithActual', isDrifted: true }),
    change({ logicalId: 'Deep', within: ['Outer', 'Inner'], action: 'Dynamic' }),
    change({ logicalId: 'Taken', action: 'Import', physicalId: 'bucket' }),
    change({ logicalId: 'Back', action: 'Add', isDrifted: true, physicalId: null }),
  );
  assert.deepEqual(
    plan.resourceChanges.map(({ path, action, actionReason = '' }) => [path, action, actionReason]),
    [
      ['Maybe', 'update', 'may be replaced, depending on Name; because of Role'],
      ['Kept', 'metadata', 'what is there stays, and belongs to no stack any more'],
      ['Gone', 'delete', 'a snapshot of what is there is kept'],
      ['Replaced', 'create', 'replaced; what is there stays, and belongs to no stack any more'],
      ['Same', 'metadata', 'it was changed outside of its stack; it is what the template wants'],
      ['Outer.Inner.Deep', 'update', 'CloudFormation decides while it works whether it changes'],
      ['Taken', 'metadata', ''],
      ['Back', 'create', 'it was deleted outside of its stack'],
    ],
  );
  assert.deepEqual(planSummary, {
    added: 2,
    changed: 2,
    destroyed: 1,
    imported: 1,
    forgotten: 2,
    unknown: 2,
  });
  const undecided = plan.resourceChanges.filter(({ kind }) => kind === 'unknown').map(({ name }) => name);
  assert.deepEqual(undecided, ['Maybe', 'Deep']);
  assert.ok(plan.resourceChanges.filter(isDrift).some(({ name }) => name === 'Maybe'));
  assert.deepEqual(plan.resourceChanges[6]?.importing, { id: 'bucket' });
});

test('the properties that force a replacement are named', async () => {
  const properties = (['Always', 'Never'] as const).map((recreation) => ({
    name: recreation,
    before: 'a',
    after: 'b',
    recreation,
    cause: null,
  }));
  const { plan } = await readingOf(change({ logicalId: 'Queue', replacement: 'True', properties }));
  assert.deepEqual(
    plan.resourceChanges[0]?.attributes.map(({ name, forcesReplacement }) => [name, forcesReplacement]),
    [
      ['Always', true],
      ['Never', undefined],
    ],
  );
});

test('lines about events are read as they are written, and other lines are not', () => {
  const event = {
    time: '12:00:00',
    status: 'CREATE_FAILED',
    type: 'AWS::SQS::Queue',
    path: 'Inner.Queue',
    physicalId: 'https://sqs.example/queue',
    reason: 'Resource handler returned message:\n"no: [really]"',
  };
  const lines = [
    eventLine(event),
    eventLine({
      ...event,
      status: 'UPDATE_IN_PROGRESS',
      physicalId: undefined,
      reason: undefined,
      path: 'Topic',
    }),
    '12:00:00 stack orders is CREATE_COMPLETE',
    'Error: 12:00:00 CREATE_COMPLETE AWS::SQS::Queue Queue',
    '12:00:00 ROLLBACK_COMPLETE AWS::CloudFormation::Stack orders',
  ];
  const reader = stackProgress();
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  // In any pieces.
  const found = [...reader.read(bytes.subarray(0, 40)), ...reader.read(bytes.subarray(40))];
  assert.deepEqual(
    found.map(({ address, moduleName, status, action, id }) => ({ address, moduleName, status, action, id })),
    [
      {
        address: 'Inner.Queue',
        moduleName: 'Inner',
        status: 'failed',
        action: 'create',
        id: event.physicalId,
      },
      { address: 'Topic', moduleName: '', status: 'started', action: 'update', id: undefined },
    ],
  );
});

test('the last error of a step is its diagnostic, with its explanation', () => {
  const output = 'Error: first\nmore\nError: stack a is ROLLBACK_COMPLETE: B\n(everything was rolled back)\n';
  assert.equal(stackReason(output), 'stack a is ROLLBACK_COMPLETE: B\n(everything was rolled back)');
  assert.equal(stackReason('12:00:00 stack a is CREATE_COMPLETE\n'), null);
});

test('a nested stack that fails for itself is an error, and one that fails with what is in it is not', () => {
  const stack = 'AWS::CloudFormation::Stack';
  const failed = (type: string, path: string, reason: string) =>
    eventLine({ time: '10:00:00', status: 'CREATE_FAILED', type, path, physicalId: undefined, reason });
  const errorsOf = (...lines: string[]) => stackDiagnostics(lines.join('\n')).map(({ text }) => text);
  const own = [failed('AWS::SQS::Queue', 'A', 'no right'), failed(stack, 'Net', 'S3 error: Access Denied')];
  const ofOwn = ['A (AWS::SQS::Queue): no right', `Net (${stack}): S3 error: Access Denied`];
  assert.deepEqual(errorsOf(...own), ofOwn);
  assert.deepEqual(
    errorsOf(...own, failed('AWS::SQS::Queue', 'Network', 'Resource creation cancelled')),
    ofOwn,
  );
  assert.deepEqual(
    errorsOf(
      failed(stack, 'Net', 'Embedded stack failed'),
      failed('AWS::SQS::Queue', 'Net.Inner.Queue', 'no right'),
      failed('AWS::SQS::Queue', 'Net.Other', 'Resource creation cancelled'),
      failed(stack, 'Net.Inner', 'Embedded stack failed'),
    ),
    ['Net.Inner.Queue (AWS::SQS::Queue): no right'],
  );
});
