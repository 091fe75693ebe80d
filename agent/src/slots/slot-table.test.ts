import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotTable } from './slot-table.ts';

test('free slots are occupied one by one, and again after their release', () => {
  const slots = new SlotTable([501, 502]);
  const [first, second] = [slots.occupy(), slots.occupy()];
  assert.deepEqual([first?.uid, second?.uid, slots.occupy()], [501, 502, null]);
  assert.ok(first);
  slots.release(first);
  assert.deepEqual([slots.freeCount, slots.freeUids()], [1, [501]]);
});

test('an attempt of an earlier agent process keeps its slot, even one above the current number', () => {
  const slots = new SlotTable([501, 502]);
  assert.equal(slots.reoccupy({ index: 0, uid: 502 }).index, 1);
  const old = slots.reoccupy({ index: 5, uid: 777 });
  assert.deepEqual([old.uid, slots.freeUids()], [777, [501]]);
  slots.release(old);
  assert.equal(slots.freeCount, 1);
  const shared = new SlotTable([null, null]);
  assert.equal(shared.reoccupy({ index: 1, uid: null }).index, 1);
  assert.equal(shared.occupy()?.index, 0);
});
