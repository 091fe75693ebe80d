import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JobVariable } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { jobOf } from '../../../testing/driver-job.ts';
import { valueFiles } from './values.ts';

const text = (name: string, value: string, format?: 'HCL' | 'JSON'): JobVariable => ({
  name,
  value,
  isSensitive: false,
  ...(format === undefined ? {} : { format }),
});

async function contents(terraform: JobVariable[], environment: JobVariable[] = []): Promise<string[]> {
  const files = await valueFiles(jobOf({ variables: { terraform, environment } }));
  assert.ok(files.every(({ isSecret }) => isSecret));
  return files.map(({ content }) => content);
}

test('names nest, texts stay texts, and JSON and HCL are what they say', async () => {
  const [own = ''] = await contents([
    text('image.tag', '1.20'),
    text('image.digits', '12345678901234567890', 'JSON'),
    text('annotations.example\\.org/a', 'true'),
    text('servers', '[{ name = "a" }]', 'HCL'),
    text('nothing', 'null', 'JSON'),
    text('unusual', 'a "quoted"\n{{ text }}: #1'),
  ]);
  assert.match(own, /"digits": 12345678901234567890/);
  assert.deepEqual(JSON.parse(own.replace('12345678901234567890', '1')), {
    image: { tag: '1.20', digits: 1 },
    annotations: { 'example.org/a': 'true' },
    servers: [{ name: 'a' }],
    nothing: null,
    unusual: 'a "quoted"\n{{ text }}: #1',
  });
});

test('two variables for the same place are an error that names both', async () => {
  for (const [first, second] of [
    ['a', 'a.b'],
    ['a.b', 'a'],
  ] as const)
    await assert.rejects(contents([text(first, '1'), text(second, '2')]), (error: Error) =>
      error.message.startsWith(`${first} and ${second} set values at the same place`),
    );
  const set = (name: string) => text(`ENVARIUM_HELM_SET_${name}`, '1');
  await assert.rejects(
    contents([], [set('a[0]'), set('a.b')]),
    /ENVARIUM_HELM_SET_a\[0\] and ENVARIUM_HELM_SET_a\.b/,
  );
  await assert.rejects(contents([], [set('a[10000]')]), /must be below 10000/);
});

test('a value that does not match its format is named, and not repeated', async () => {
  await assert.rejects(
    contents([text('a.b', '{ secret', 'JSON')]),
    /^Error: Variable "a\.b": its value is not valid JSON/,
  );
});

const chart = {
  'Chart.yaml': 'apiVersion: v2\nname: values\nversion: 1.0.0\n',
  'templates/all.yaml': '{{ toJson .Values }}',
};

/** Values that a chart sees. */
function valuesSeen(t: TestContext, files: Record<string, string>, args: readonly string[]): unknown {
  const folder = temporaryFolder(t, 'values-');
  for (const [name, content] of Object.entries({ ...chart, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const output = execFileSync(toolboxProgram('helm') ?? '', ['template', folder, ...args], {
    cwd: folder,
    env: { HOME: folder },
    encoding: 'utf8',
  });
  return JSON.parse(output.replace(/^[^{]*/, ''));
}

test('a chart sees what --set would have set', withToolbox('helm'), async (t) => {
  for (const [key, value] of [
    ['a', 'text'],
    ['a', 'true'],
    ['a', 'null'],
    ['a', '0'],
    ['a', '007'],
    ['a', '-12'],
    ['a', '1.5'],
    ['a', '9007199254740991'],
    ['a', ''],
    ['a', '{}'],
    ['a', '{1,b,true}'],
    ['a', '{one}'],
    ['a.b\\.c.d', 'x'],
    ['a[1].b[0]', 'x'],
    ['a', 'one\\, two'],
  ] as const) {
    const [, set = ''] = await contents([], [text(`ENVARIUM_HELM_SET_${key}`, value)]);
    const expected = valuesSeen(t, {}, ['--set', `${key}=${value}`]);
    assert.deepEqual(valuesSeen(t, { 'set.yaml': set }, ['--values=set.yaml']), expected, `${key}=${value}`);
  }
});

test('a comma in a value is a comma', async () => {
  const [, set = ''] = await contents([], [text('ENVARIUM_HELM_SET_a', 'one, two')]);
  assert.deepEqual(JSON.parse(set), { a: 'one, two' });
});
