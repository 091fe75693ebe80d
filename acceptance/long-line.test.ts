import { test } from 'node:test';
import { withoutTerraform } from './programs.ts';
import { checkLongLine } from './recovery/long-line.ts';

test(
  'a line of 50 MB passes, masked and within limits, and neither agent nor service needs memory for it',
  {
    skip: withoutTerraform,
  },
  () => checkLongLine(50, 16),
);
