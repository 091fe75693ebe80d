import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SetDiscoveryBody } from './operations.ts';
import { settingsOf } from './setting-names.ts';
import { Discovery } from './shapes.ts';

test('a change sends back every setting that replies contain', () => {
  const places = ['id', 'projectId', 'organizationId'];
  const both = Object.keys(SetDiscoveryBody.properties).filter(
    (name) => name in Discovery.properties && !places.includes(name),
  );
  const full = Object.fromEntries(Object.keys(Discovery.properties).map((name) => [name, 'x']));
  assert.deepEqual(Object.keys(settingsOf(full as never)).toSorted(), both.toSorted());
});
