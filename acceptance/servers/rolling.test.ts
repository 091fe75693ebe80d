import { test } from 'node:test';
import { roll } from './rolling.ts';
import { skip } from './stories.ts';

test(
  'two servers are replaced one after the other: no run, and no request that is sent once more, fails',
  {
    skip,
    timeout: 180_000,
  },
  () => roll({ stopDelaySeconds: 0, leastRequests: 20, isBalanced: false }),
);
