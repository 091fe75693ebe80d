import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtPages, outdatedPages, produce } from '../generate/generators.ts';

test('every generated page is current', async () => {
  assert.deepEqual(await outdatedPages({ isWriting: false }), [], 'run "npm run generate"');
});

test('every page that is built can be built: tests cover only what the contract has', async () => {
  for (const page of builtPages) assert.match(await produce(page), /listTeams|## team list/, page.file);
});
