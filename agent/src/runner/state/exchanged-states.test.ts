import { test } from 'node:test';
import { confinements, withoutExchange } from '../../../testing/attacks.ts';
import { exchangeStates } from '../../../testing/races/exchange-states.ts';

for (const confinement of confinements)
  test(
    `a run that exchanges its state's folder gets no other state stored, confined ${confinement.name}`,
    {
      skip: confinement.skip || withoutExchange,
    },
    (t) => exchangeStates(t, confinement, 2),
  );
