import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNumber } from '#guards/json-bytes.ts';
import { stateFile } from '../../../../testing/agent.ts';
import { countThreads } from '../../../../testing/threads.ts';
import { checkStateFile, type ReadState, readStateFacts } from './read-state.ts';
import { readState } from './state-formats.ts';

const megabyte = 1024 * 1024;

/** A state whose outputs are a list of empty lists. */
function ofLists(bytes: number): Buffer<ArrayBuffer> {
  const start = '{"version":4,"serial":1,"lineage":"l","outputs":{"o":{"value":[[]';
  return Buffer.concat([Buffer.from(start), Buffer.alloc(bytes - (bytes % 3), ',[]'), Buffer.from(']}}}')]);
}

/** The longest time in which no other work got a turn, while something is awaited. */
async function longestPause(work: Promise<unknown>): Promise<number> {
  let before = performance.now();
  let longest = 0;
  const ticks = setInterval(() => {
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
  }, 10);
  await work;
  clearInterval(ticks);
  return longest;
}

test('a state of more values than memory is reserved for is refused, and other requests are answered in the meantime', async () => {
  const reading = assert.rejects(
    readStateFacts(ofLists(64 * megabyte)),
    /^Error: the state has more than 5000000 values$/,
  );
  const pause = await longestPause(reading);
  assert.ok(pause < 5_000, `${pause} ms`);
});

test('at most two threads work on large states at a time', async () => {
  const large = () => Buffer.from(stateFile(3, ['a']).padEnd(3 * megabyte));
  const { result: reads, most } = await countThreads(() =>
    Promise.all(Array.from({ length: 5 }, () => readStateFacts(large()))),
  );
  assert.deepEqual(
    reads.map(({ facts }) => facts.serial),
    [3, 3, 3, 3, 3],
  );
  assert.equal(most, 2);
});

test('large states have the same facts and the same refusals as small ones', async () => {
  const small = Buffer.from(stateFile(3, ['a', 'b']));
  const large = () => Buffer.from(small.toString().padEnd(3 * megabyte));
  const read = await readStateFacts(large());
  assert.deepEqual(read.facts, (await readStateFacts(small)).facts);
  assert.deepEqual(read.bytes, large());
  assert.equal((await checkStateFile(large())).facts.resourceCount, 2);
  await assert.rejects(checkStateFile(large().subarray(40)), /it is damaged or truncated/);
  await assert.rejects(readStateFacts(Buffer.alloc(3 * megabyte, ' ')), /JSON/);
});

/** The time for which this thread needed the processor, in milliseconds. */
async function busyMilliseconds(work: () => unknown): Promise<number> {
  const { user, system } = process.threadCpuUsage();
  await work();
  const after = process.threadCpuUsage();
  return (after.user - user + after.system - system) / 1000;
}

test('a large state is read in another thread, and where its serial is found there, too', async () => {
  const state = Buffer.concat([
    Buffer.from('{"version":4,"lineage":"l","outputs":{"o":{"value":"é'),
    Buffer.alloc(40 * megabyte, 'x'),
    Buffer.from('"}},"serial": 7}'),
  ]);
  const here = await busyMilliseconds(() => readState('check', state));
  const length = state.length;
  let read: ReadState | undefined;
  const inThread = await busyMilliseconds(async () => {
    read = await checkStateFile(state);
  });
  assert.ok(read);
  const renumbered = Buffer.concat(withNumber(read.bytes, read.serialPlace, 12));
  assert.equal(renumbered.subarray(-13).toString(), '"serial": 12}');
  assert.equal(renumbered.length, length + 1);
  assert.ok(inThread < here / 2, `${inThread} ms instead of ${here} ms`);
});
