import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { finishMessage, readFinish } from './read-finish.ts';

const bytesOf = (message: unknown) => Buffer.from(JSON.stringify(message));

/** A plan of many resources, several megabytes long. */
function largeMessage() {
  const attributes = Array.from({ length: 20 }, (_, index) => ({
    name: `a${index}`,
    before: null,
    after: 'x',
  }));
  const resource = { name: 'n', providerName: 'p', type: 't', path: 't.n', action: 'create', attributes };
  const plan = { resourceChanges: Array.from({ length: 15_000 }, () => resource), outputChanges: [] };
  return { fence: 3, outcome: plannedOutcome({ plan } as object) };
}

test('a large message is read by another thread, with the same result', async () => {
  const bytes = bytesOf(largeMessage());
  let before = process.threadCpuUsage();
  const expected = finishMessage(bytes);
  const inOwnThread = process.threadCpuUsage(before).user;
  before = process.threadCpuUsage();
  const read = await readFinish(bytes);
  const waiting = process.threadCpuUsage(before).user;
  assert.deepEqual(read, expected);
  assert.ok(read.outcome?.texts.plan?.startsWith('{"resourceChanges":[{'));
  assert.ok(waiting < inOwnThread / 2, `${waiting} μs of ${inOwnThread} μs`);
});

test('a large message that is not JSON is refused like a small one', async () => {
  const large = Buffer.from(`{"outcome": ${' '.repeat(2_000_000)}`);
  for (const bytes of [Buffer.from('{"outcome": '), large]) await assert.rejects(readFinish(bytes), /JSON/);
});

test('fields of no column are dropped, however large they are', () => {
  const outcome = {
    ...plannedOutcome({ planSummary: { added: 1, changed: 0, destroyed: 0 } }),
    padding: Array.from({ length: 1000 }, () => []),
  };
  outcome.planSummary = { ...outcome.planSummary, padding: ['x'] } as object as typeof outcome.planSummary;
  const read = finishMessage(bytesOf({ fence: 1, outcome }));
  assert.equal(read.problem, null);
  assert.ok(!JSON.stringify(read).includes('padding'));
});

test('values of sensitive outputs are not in the text that is stored in clear', () => {
  const outputs = {
    open: { value: 1, sensitive: false, type: 'number' },
    hidden: { value: 'planted', sensitive: true, type: 'string' },
  };
  const { outcome } = finishMessage(bytesOf({ fence: 1, outcome: plannedOutcome({ outputs }) }));
  assert.ok(!outcome?.texts.output?.includes('planted'));
  assert.equal(outcome?.secretOutput, '{"hidden":"planted"}');
});

test('an outcome is recognized by its hash, even if it is not valid', () => {
  const first = finishMessage(bytesOf({ fence: 1, outcome: { result: 'odd' } }));
  const again = finishMessage(bytesOf({ fence: 2, outcome: { result: 'odd' } }));
  assert.equal(first.sha256, again.sha256);
  assert.match(first.problem ?? '', /does not match the protocol/);
  assert.notEqual(finishMessage(bytesOf({ outcome: { result: 'other' } })).sha256, first.sha256);
  assert.equal(finishMessage(bytesOf(null)).sha256, finishMessage(bytesOf({})).sha256);
});
