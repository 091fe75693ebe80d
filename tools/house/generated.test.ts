import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outdatedPages } from '../generators.ts';

test('every generated page is current', async () => {
  assert.deepEqual(await outdatedPages({ isWriting: false }), [], 'run "npm run generate"');
});
