import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsPage } from './commands-page.ts';

test('every command and every option has a description', () => {
  assert.doesNotMatch(commandsPage(), /^\| `.*` \| \.|^\.$/m);
});
