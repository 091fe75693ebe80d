import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchOf, textOfSearch } from './search.ts';

test('what looks like a number or like JSON stays the text that it is', () => {
  const search = { page: '2', id: '0012', tag: '{"a":1}', flag: 'true', text: 'a & b = c?' };
  assert.deepEqual(searchOf(textOfSearch(search)), search);
  assert.equal(textOfSearch({ page: 2, none: undefined }), '?page=2');
  assert.equal(textOfSearch({}), '');
});
