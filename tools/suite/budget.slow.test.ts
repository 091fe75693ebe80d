/** The suite is measured where nothing else runs: by `.ci/run`, which comes before `.ci/long`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipUnlessRequired } from '../toolbox/places.ts';
import { lastRun, minutesOver } from './budget.ts';

const run = lastRun();

test(
  'the whole suite keeps its budget',
  run ? {} : skipUnlessRequired('needs a run of the whole suite in this checkout: "npm test" or ".ci/run"'),
  () => {
    assert.equal(run && minutesOver(run), 0, `${JSON.stringify(run)} is over the budget of CONTRIBUTING.md`);
  },
);
