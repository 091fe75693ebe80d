import { test } from 'node:test';
import { roll } from './rolling.ts';
import { skip } from './stories.ts';

test(
  'two servers behind a load balancer are replaced one after the other: of 400 requests, none fails',
  {
    skip,
    timeout: 300_000,
  },
  () => roll({ stopDelaySeconds: 5, leastRequests: 400, isBalanced: true }),
);
