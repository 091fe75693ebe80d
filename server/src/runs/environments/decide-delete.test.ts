import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DeleteFacts, refusalOfDelete } from './decide-delete.ts';

const fresh: DeleteFacts = {
  environment: { name: 'network', isLocked: false, lockReason: null },
  open: [],
  stateLock: null,
  stateVersions: 0,
  wasChanged: false,
};
const locked = { ...fresh.environment, isLocked: true };
const waiting = { id: 'd1', type: 'deploy', status: 'WAITING_FOR_USER' } as const;

test('an environment that never had resources can be deleted', () => {
  assert.equal(refusalOfDelete(fresh), null);
});

const refusals: [string, Partial<DeleteFacts>, RegExp][] = [
  ['is locked', { environment: locked }, /"network" is locked: unlock it first/],
  [
    'is locked for a reason',
    { environment: { ...locked, lockReason: 'audit' } },
    /"network" is locked \(audit\): unlock it first/,
  ],
  [
    'has an open deployment',
    { open: [waiting] },
    /has a deploy that is WAITING_FOR_USER \(d1\): cancel or abort it first/,
  ],
  [
    'has a locked state',
    { stateLock: 'The state has been locked by another user' },
    /^The state has been locked by another user: unlock the state of environment "network" first/,
  ],
  ['has a stored state', { stateVersions: 1 }, /may have had resources.*destroy it, then archive it/],
  ['was changed by a run', { wasChanged: true }, /may have had resources.*destroy it, then archive it/],
  ['is locked, whatever else it is', { environment: locked, stateVersions: 1 }, /is locked/],
];
for (const [title, facts, message] of refusals) {
  test(`an environment that ${title} cannot be deleted`, () => {
    assert.match(refusalOfDelete({ ...fresh, ...facts }) ?? '', message);
  });
}
