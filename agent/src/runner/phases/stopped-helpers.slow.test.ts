import { test } from 'node:test';
import { confinements } from '../../../testing/attacks.ts';
import { stopHelpers } from '../../../testing/stopped-helpers.ts';

// Helpers of the same user are stopped too, and are waited for.
for (const confinement of confinements)
  test(`a run that stops every process that it sees ends with a reason, confined ${confinement.name}, each of 5 times`, {
    skip: confinement.skip,
  }, async (t) => {
    for (let count = 0; count < 5; count++) await stopHelpers(t, confinement);
  });
