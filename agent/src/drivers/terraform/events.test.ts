import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { terraformEvents } from './events.ts';
import { terraformProgress } from './progress.ts';

const recorded = (name: string) => readFile(join(import.meta.dirname, '../opentofu/__fixtures__', name));

describe('the events that OpenTofu writes besides its log', () => {
  for (const story of ['create', 'change']) {
    it(`tell what the log tells, for people, of ${story}`, async () => {
      const events = terraformEvents().read(await recorded(`${story}-1.12.6.events.jsonl`));
      const log = terraformProgress().read(await recorded(`${story}-1.12.6.apply.log`));
      // Only the log reports an import; log and events name each deposed object separately.
      const logged = log.filter(({ action }) => action !== 'read');
      const key = (event: object) => JSON.stringify(event);
      assert.ok(logged.length > 0);
      assert.deepEqual(events.map(key).toSorted(), logged.map(key).toSorted());
    });
  }

  it('are read in pieces of any size', async () => {
    const bytes = await recorded('create-1.12.6.events.jsonl');
    const whole = terraformEvents().read(bytes);
    const reader = terraformEvents();
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      reader.read(bytes.subarray(at * 7, at * 7 + 7)),
    );
    assert.deepEqual(pieces.flat(), whole);
  });

  it('lines that are not events of a resource are skipped', () => {
    const lines = [
      '',
      'null',
      '[]',
      '{"type":"apply_start"}',
      '{"type":"constructor","hook":{"resource":{"addr":"a.b"},"action":"create"}}',
      '{"type":"apply_start","hook":{"resource":{"addr":"not an address"},"action":"create"}}',
      '{"type":"apply_start","hook":{"resource":{"addr":"a.b"},"action":"noop"}}',
      `{"type":"apply_start","hook":{"resource":{"addr":"a.${'b'.repeat(70_000)}"},"action":"create"}}`,
      '{"type":"apply_errored","hook":{"resource":{"addr":"a_x.b","implied_provider":"a"},"action":"create"}}',
      '{"type":"apply_start","hook":{"resource":{"addr":"a.b"},"action":"cr',
    ];
    const events = terraformEvents().read(Buffer.from(lines.join('\n')));
    assert.deepEqual(events, [
      {
        address: 'a_x.b',
        moduleName: '',
        type: 'a_x',
        name: 'b',
        provider: 'a',
        status: 'failed',
        action: 'create',
      },
    ]);
  });
});
