import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotTable } from './slot-table.ts';

test('slots are handed out one by one, and again after their release', () => {
  const slots = new SlotTable(2, [501, 502, 503]);
  const [first, second] = [slots.occupy(), slots.occupy()];
  assert.deepEqual([first?.uid, second?.uid, slots.occupy()], [501, 502, null]);
  assert.ok(first);
  slots.release(first);
  assert.deepEqual([slots.freeCount, slots.freeUids()], [1, [503, 501]]);
});

test('the next attempt of a slot has another uid than the one before', () => {
  const slots = new SlotTable(1, [501, 502, 503]);
  const uids = Array.from({ length: 4 }, () => {
    const slot = slots.occupy();
    assert.ok(slot);
    slots.release(slot);
    return slot.uid;
  });
  assert.deepEqual(uids, [501, 502, 503, 501]);
});

test('an attempt of an earlier agent keeps its slot and uid, even one above the current number', () => {
  const slots = new SlotTable(2, [501, 502]);
  assert.deepEqual(slots.reoccupy({ index: 0, uid: 502 }), { index: 0, uid: 502 });
  const old = slots.reoccupy({ index: 5, uid: 777 });
  assert.deepEqual([old.index, old.uid, slots.freeUids()], [-1, 777, [501]]);
  slots.release(old);
  assert.equal(slots.freeCount, 1);
  const shared = new SlotTable(2, null);
  assert.equal(shared.reoccupy({ index: 1, uid: null }).index, 1);
  assert.equal(shared.occupy()?.index, 0);
});
