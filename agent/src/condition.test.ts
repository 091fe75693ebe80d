import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { conditionOf } from './condition.ts';

const machine = {
  spool: { folder: tmpdir() },
  workFolder: '/does/not/exist',
  runOrder: { runLimits: { reserveBytes: 256 * 1024 ** 2 } },
  missingPrograms: ['ansible-playbook'],
};
const ready = { isDraining: false, memoryShortage: null };

test('a heartbeat says how much space is left, which programs are missing, and what time it is', () => {
  const { time, folders, missingPrograms, ...more } = conditionOf(machine, ready);
  assert.deepEqual(more, {});
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 10_000);
  assert.deepEqual(missingPrograms, ['ansible-playbook']);
  // A folder that cannot be measured is left out.
  assert.deepEqual(
    folders.map(({ what, path, reserveMegabytes }) => [what, path, reserveMegabytes]),
    [['spool', tmpdir(), 256]],
  );
  assert.ok((folders[0]?.freeMegabytes ?? 0) > 0);
});

test('a heartbeat says why an agent takes no jobs', () => {
  const memoryShortage = { availableMegabytes: 100, neededMegabytes: 256 };
  const said = conditionOf(machine, { isDraining: true, memoryShortage });
  assert.equal(said.isDraining, true);
  assert.deepEqual(said.memoryShortage, memoryShortage);
});
