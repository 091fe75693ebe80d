/** A run whose processes try to outlive it does not get at the next run, nor at root. */
import { test } from 'node:test';
import { outlive, withoutSurvivor } from './survivor.ts';

for (const isolation of ['auto', 'off'] as const)
  test(
    `a run with threads that kill and hide has no access to the next run, with isolation ${isolation}, each of 100 times`,
    {
      skip: withoutSurvivor,
    },
    (t) => outlive(t, isolation, 100),
  );
