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

test('the uid of a kept tree is handed out for its apply only, until the tree is removed', () => {
  const slots = new SlotTable(1, [501, 502, 503]);
  const planned = slots.occupy();
  assert.ok(planned);
  assert.equal(slots.reserveUid(planned), true);
  slots.release(planned);
  assert.deepEqual(slots.freeUids(), [502, 503]);
  const claimed = slots.occupy();
  assert.equal(claimed?.uid, 502);
  const apply = slots.exchangeUid(claimed, 501);
  assert.deepEqual([apply, slots.freeUids()], [{ index: 0, uid: 501 }, [503, 502]]);
  assert.equal(slots.occupy(), null);
  slots.release(apply);
  assert.deepEqual(slots.freeUids(), [503, 502, 501]);

  const other = slots.occupy();
  assert.ok(other);
  slots.reserveUid(other);
  slots.freeUid(other.uid);
  assert.deepEqual(slots.freeUids(), [502, 501], 'it is still in use');
  slots.release(other);
  assert.deepEqual(slots.freeUids(), [502, 501, 503]);
  slots.freeUid(503);
  assert.deepEqual(slots.freeUids(), [502, 501, 503], 'it was not reserved any more');
});

test('a uid is not reserved if a free slot would have none', () => {
  const slots = new SlotTable(2, [501, 502, 503]);
  const [first, second] = [slots.occupy(), slots.occupy()];
  assert.ok(first && second);
  assert.equal(slots.reserveUid(first), true);
  slots.release(first);
  assert.deepEqual([slots.freeCount, slots.freeUids()], [1, [503]]);
  assert.equal(slots.reserveUid(second), false);
  slots.freeUid(first.uid);
  assert.equal(slots.reserveUid(second), true);
  slots.release(second);
  assert.deepEqual([slots.freeCount, slots.freeUids()], [2, [503, 501]]);
  assert.deepEqual([slots.occupy()?.uid, slots.occupy()?.uid], [503, 501]);
});

test('a uid can always be reserved if runs have none of their own', () => {
  const slots = new SlotTable(1, null);
  const slot = slots.occupy();
  assert.ok(slot && slots.reserveUid(slot));
  slots.release(slot);
  assert.deepEqual(slots.occupy(null), { index: 0, uid: null });
  assert.equal(new SlotTable(1, [501]).occupy(null)?.uid, 501, 'a tree of an agent that was not root');
});

test('an attempt that was not started gets the uid of its tree', () => {
  const slots = new SlotTable(2, [501, 502]);
  assert.deepEqual([slots.occupy(502)?.uid, slots.occupy()?.uid], [502, 501]);
});
