import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../../server/testing/database.ts';
import { root } from '../tree/repository.ts';
import { describeTables } from './table-types.ts';

test('the types of the tables are those that the migrations make', async () => {
  await using database = await testDatabase();
  assert.equal(readFileSync(join(root, 'server/src/rows/schema.ts'), 'utf8'), await describeTables(database));
});
