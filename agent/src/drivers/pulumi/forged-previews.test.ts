/** Code of the repository that works while Pulumi does, and writes to what people are shown. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import { pulumiFolder, withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage } from '../../../testing/pulumi/pulumi-stage.ts';
import { hiddenInPreview } from './preview-check.ts';

const program = `name: shop
runtime: yaml
plugins:
  providers:
    - { name: file, path: plugin }
config:
  world: { type: string }
resources:
  page:
    type: file:File
    properties:
      path: \${world}/page
      content: hello
`;

/** A provider that replaces the file of events, then does its work. */
function forging(events: readonly unknown[]): string {
  const lines = events.map((event) => JSON.stringify(event)).join('\n');
  return `#!/bin/sh
if [ -e "$TMPDIR/preview.jsonl" ]; then
  rm "$TMPDIR/preview.jsonl"
  cat > "$TMPDIR/preview.jsonl" <<'END'
${lines}
END
fi
exec ${join(pulumiFolder(), 'pulumi-resource-file')} "$@"
`;
}

const summary = { summaryEvent: { resourceChanges: { same: 1 } } };

async function planned(t: TestContext, events: readonly unknown[]) {
  const stage = pulumiStage(t, { 'Pulumi.yaml': program });
  stage.setup.commit({ 'plugin/pulumi-resource-file': forging(events) });
  stage.setup.git('update-index', '--chmod=+x', 'plugin/pulumi-resource-file');
  stage.setup.git('commit', '-m', 'executable');
  return { stage, ran: await stage.run(stage.job()) };
}

test('a preview whose report hides what its plan has is refused', withPulumi, async (t) => {
  const { stage, ran } = await planned(t, [summary]);
  assert.match(
    failureMessageOf(ran),
    /differs from what it has reported \(create of urn:pulumi:test-one::shop::file:index:File::page\)/,
  );
  assert.ok(!existsSync(join(stage.world, 'page')));
});

const urn = 'urn:pulumi:test-one::shop::file:index:File::page';
function event(inputs: Readonly<Record<string, unknown>>) {
  const metadata = { op: 'update', urn, type: 'file:index:File', old: null, new: { urn, type: '', inputs } };
  return { resourcePreEvent: { metadata } };
}
function plan(updates: Readonly<Record<string, unknown>>): Uint8Array {
  const resourcePlans = { [urn]: { goal: { inputDiff: { updates } }, steps: ['update'] } };
  return Buffer.from(JSON.stringify({ resourcePlans }));
}
const mark = '4dabf18193072939515e22adb298388d';
const secret = { [mark]: '1b47061264138c4ac30d75fd1eb44270', ciphertext: 'x' };

test('inputs are reported as they are planned, or hidden', () => {
  const planned = {
    content: 'bye',
    list: ['a', { b: 'with a word' }],
    key: secret,
    file: { [mark]: 'asset' },
  };
  const reported = {
    content: 'bye',
    list: ['a', { b: 'with a [secret]' }],
    key: secret,
    file: { [mark]: 'asset', text: '...' },
  };
  assert.equal(hiddenInPreview(plan(planned), [event(reported)]), null);
  for (const other of [{ content: 'hello' }, { list: ['a'] }, { content: { [mark]: 'asset' } }])
    assert.equal(
      hiddenInPreview(plan(planned), [event({ ...reported, ...other })]),
      `${Object.keys(other).join('')} of ${urn}`,
    );
  assert.equal(hiddenInPreview(Buffer.from('{'), []), 'it cannot be read');
});
