/** Numbers of templates and of files with parameters that no JavaScript number holds. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Api } from './api/api.ts';
import { specifiedValues } from './parameters.ts';
import { placeTemplate } from './template.ts';
import type { Uploads } from './uploads.ts';

const folder = mkdtempSync(join(tmpdir(), 'stack numbers '));
const before = process.cwd();
process.chdir(folder);
test.after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const request = (files: object) =>
  ({ templateFile: null, parametersFile: null, parameters: {}, ...files }) as Api['request'];
const uploads = {
  placeOf: (key: string) => ({ bucket: 'bucket', key }),
  addressOf: async () => 'https://bucket/nested',
} as unknown as Uploads;
const nested = '"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "nested.yaml"}';
const metadata = '{"large": 9223372036854775807, "small": [1, -12345678901234567890, true]}';
const template = `{"Metadata": ${metadata}, "Resources": {"Nested": {${nested}}}}`;

for (const [form, text] of [
  ['JSON', template],
  ['YAML', `# a template\n${template}`],
] as const)
  test(`a template in ${form} whose nested stacks are uploaded keeps its numbers`, async () => {
    writeFileSync('nested.yaml', 'Resources: {}\n');
    writeFileSync('template', text);
    const { source } = await placeTemplate(
      { request: request({ templateFile: 'template' }) },
      uploads,
      'check',
    );
    const body = 'TemplateBody' in source ? source.TemplateBody : '';
    assert.match(body, /https:\/\/bucket\/nested/);
    assert.match(body, /"large": 9223372036854775807/);
    assert.match(body, /-12345678901234567890,\s+true/);
  });

for (const [form, text] of [
  [
    'JSON',
    '{"Id": 9223372036854775807, "Account": "012", "Flag": true, "List": [1.0, 12345678901234567890]}',
  ],
  ['YAML', 'Id: 9223372036854775807\nAccount: 012\nFlag: true\nList: [1.0, 12345678901234567890]\n'],
] as const)
  test(`parameters in ${form} are the texts that the file has`, () => {
    writeFileSync('parameters', text);
    assert.deepEqual(
      { ...specifiedValues(request({ parametersFile: 'parameters' })) },
      { Id: '9223372036854775807', Account: '012', Flag: 'true', List: '1.0,12345678901234567890' },
    );
  });
