import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rights } from '#contract/schema/rights.ts';
import { rightGroups, rightText } from './right-texts.ts';

test('each right belongs to one group and has an explanation', () => {
  const listed = rightGroups.flatMap((group) => group.rights.map(([right]) => right));
  assert.deepEqual(listed.toSorted(), [...rights].toSorted());
  for (const right of rights) assert.match(rightText(right), /^[A-Z].*\.$/, right);
});
