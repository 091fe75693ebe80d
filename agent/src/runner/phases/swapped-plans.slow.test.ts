import { test } from 'node:test';
import { confinements } from '../../../testing/attacks.ts';
import { swapPlans } from '../../../testing/races/swap-plans.ts';

for (const confinement of confinements)
  test(
    `a run that swaps its plan gets applied what was shown, confined ${confinement.name}, each of 100 times`,
    {
      skip: confinement.skip,
    },
    (t) => swapPlans(t, confinement, 100),
  );
