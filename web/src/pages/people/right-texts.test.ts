import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rights } from '#contract/schema/rights.ts';
import { rightGroups } from './right-texts.ts';

test('each right belongs to one group and has an explanation', () => {
  const listed = rightGroups.flatMap((group) => group.rights.map(([right]) => right));
  assert.deepEqual(listed.toSorted(), [...rights].toSorted());
  for (const group of rightGroups)
    for (const [right, text] of group.rights) assert.match(text, /^[A-Z].*\.$/, right);
});
