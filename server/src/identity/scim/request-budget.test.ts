import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../testing/app.ts';
import { scimClient } from '../../../testing/scim.ts';
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { applyPatch } from './patch.ts';

const members = Array.from({ length: 10_000 }, (_, index) => ({ value: `person-${index}` }));
const group = { displayName: 'all', members };

function refusalOf(Operations: readonly object[]): ScimRefusal {
  // Time of the processor, which others on a busy machine do not change.
  const started = process.cpuUsage();
  try {
    applyPatch(group, 'Group', { Operations });
  } catch (error) {
    assert.ok(error instanceof ScimRefusal);
    assert.ok(process.cpuUsage(started).user < 20_000_000, 'it takes minutes without a limit');
    return error;
  }
  assert.fail('it is not refused');
}

test('a PATCH that compares too much is refused instead of holding up the service', () => {
  const anyOf = Array.from({ length: 200 }, (_, index) => `value eq "${index}"`).join(' or ');
  const filtered = Array.from({ length: 1000 }, () => ({ op: 'remove', path: `members[${anyOf}]` }));
  const added = Array.from({ length: 1000 }, (_, index) => ({
    op: 'add',
    path: 'members',
    value: [{ value: `another-${index}` }],
  }));
  const replaced = { op: 'replace', path: 'members', value: Array.from({ length: 500_000 }, () => ({})) };
  const parts = Array.from({ length: 100 }, () => ({ op: 'replace', path: 'members.type', value: 'User' }));
  for (const operations of [filtered, added, [replaced, ...parts]]) {
    const { scimType, message } = refusalOf(operations);
    assert.equal(scimType, 'tooMany');
    assert.match(message, /compares more than 2000000 values: send it in parts/);
  }
});

test('a hundred members of a full group are removed in one PATCH', () => {
  const Operations = members
    .slice(0, 100)
    .map(({ value }) => ({ op: 'remove', path: `members[value eq "${value}"]` }));
  const { members: left } = applyPatch(group, 'Group', { Operations });
  assert.equal((left as unknown[]).length, 9900);
});

test('a search names at most 100 attributes', async () => {
  const scim = await scimClient(await testApp());
  for (const name of ['attributes', 'excludedAttributes']) {
    const search = (number: number) =>
      scim('POST', '/Users/.search', { [name]: Array.from({ length: number }, () => 'userName') });
    assert.equal((await search(100)).status, 200);
    const { status, body } = await search(101);
    assert.deepEqual([status, body.scimType], [400, 'invalidValue']);
    assert.match(body.detail, new RegExp(`^${name} has more than 100 names`));
  }
});
