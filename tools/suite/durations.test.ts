import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectedSeconds, readDurations, recordDurations } from './durations.ts';

test('durations are kept from run to run, but not those of files that are gone', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'envarium durations '));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = join(folder, 'cache', 'durations.json');
  const [one, other] = ['tools/suite/durations.test.ts', 'tools/suite/durations.ts'];
  assert.deepEqual([...readDurations(store)], []);
  recordDurations(
    new Map([
      [one, 1.26],
      ['gone.test.ts', 5],
    ]),
    store,
  );
  recordDurations(new Map([[other, 2]]), store);
  recordDurations(new Map([[one, 3.04]]), store);
  assert.deepEqual(Object.fromEntries(readDurations(store)), { [one]: 3, [other]: 2 });
  assert.equal(expectedSeconds(one, readDurations(store)), 3);
  writeFileSync(store, '{"damaged": ');
  assert.deepEqual([...readDurations(store)], []);
});

test('a file that never ran is expected to take longer the larger it is, and none in acceptance is short', () => {
  const expected = [
    'acceptance/cli.test.ts',
    'acceptance/chaos/soak.test.ts',
    'tools/launch.test.ts',
    'tools/generate/table-types.test.ts',
  ].map((file) => expectedSeconds(file, new Map()));
  assert.deepEqual(
    expected.toSorted((one, another) => another - one),
    expected,
  );
});
