import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { resourceLimits } from '../spool/resource-events.ts';
import { EventLog } from './event-log.ts';

function logFile(t: TestContext): string {
  const folder = temporaryFolder(t, 'events-');
  return join(folder, 'events.jsonl');
}

const resource = (name: string) =>
  ({
    kind: 'resource',
    address: `a.${name}`,
    provider: 'a',
    type: 'a',
    name,
    moduleName: '',
    status: 'started',
    action: 'create',
  }) as const;

test('a run that reports resources without an end fills no disk, and other events stay', (t) => {
  const file = logFile(t);
  using log = new EventLog(file);
  const first: number[] = [];
  for (let index = 0; index < resourceLimits.events + 100; index += 1)
    if (log.appendResource(resource(String(index)))) first.push(index);
  assert.deepEqual(first, [resourceLimits.events]);
  log.append({ kind: 'step', step: 'tf:apply', status: 'SUCCESS' });
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  assert.equal(lines.length, resourceLimits.events + 1);
  assert.match(lines.at(-1) ?? '', /SUCCESS/);
});

test('long events of resources count by their size', (t) => {
  const file = logFile(t);
  using log = new EventLog(file);
  const name = 'x'.repeat(2_000_000);
  let first = 0;
  for (let index = 0; index < 60; index += 1) if (log.appendResource(resource(name))) first += 1;
  assert.equal(first, 1);
  assert.ok(statSync(file).size < resourceLimits.bytes + 5_000_000);
});
