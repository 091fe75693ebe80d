import { test } from 'node:test';
import { withoutExchange } from '../../testing/attacks.ts';
import { removeExchanged } from '../../testing/races/remove-exchanged.ts';

const skip =
  process.getuid?.() === 0 ? withoutExchange : 'needs root: only root removes what belongs to others';

test(
  'a folder that is exchanged for a link during its removal leads nowhere, each of 100 times',
  {
    skip,
  },
  (t) => removeExchanged(t, 100),
);
