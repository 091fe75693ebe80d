import { test } from 'node:test';
import { findProgram } from './programs.ts';
import { checkLongLine } from './recovery/long-line.ts';

const skip = (await findProgram('terraform')) === null && 'terraform is not on the PATH';

test(
  'a line of 1 GB passes, masked and within limits, and neither agent nor service needs memory for it',
  {
    skip,
  },
  () => checkLongLine(1024, 272),
);
