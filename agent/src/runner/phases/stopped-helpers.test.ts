import { test } from 'node:test';
import { confinements } from '../../../testing/attacks.ts';
import { stopHelpers } from '../../../testing/stopped-helpers.ts';

for (const confinement of confinements.filter(({ name }) => name.startsWith('in namespaces')))
  test(
    `a run that stops every process that it sees ends with a reason, confined ${confinement.name}`,
    {
      skip: confinement.skip,
    },
    (t) => stopHelpers(t, confinement),
  );
