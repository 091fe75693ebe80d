import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartValues } from './chart-values.ts';
import { parseFiles } from './read-yaml.ts';
import { type DeclaringCode } from './row.ts';

function codeOf(files: Readonly<Record<string, string>>): DeclaringCode {
  const read = async () => new Map(Object.entries(files));
  return { tree: { read }, path: '', signal: new AbortController().signal } as unknown as DeclaringCode;
}

const yaml = `large: 9223372036854775807
short: 1.10
zeros: 0.1000
huge: 1e400
plain: 1.5
text: "1.10"
`;

test('numbers of YAML keep their digits as values of variables', async () => {
  const rows = await chartValues(codeOf({ 'values.yaml': yaml }), { prefix: '' });
  const values = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  assert.deepEqual(values, {
    large: '9223372036854775807',
    short: '1.10',
    zeros: '0.1000',
    huge: '1e400',
    plain: '1.5',
    text: '1.10',
  });
});

test('other values of YAML are what they were', async () => {
  const text = 'a: [yes, true, null, ~, 0x10, -1]\nb: &b { c: .5 }\nd: *b\n"": x\n__proto__: 1\n';
  const [file] = await parseFiles(codeOf({ 'a.yml': text }), ['a.yml']);
  const expected = '{"a":["yes",true,null,null,16,-1],"b":{"c":0.5},"d":{"c":0.5},"":"x","__proto__":1}';
  assert.equal(JSON.stringify(file?.content), expected);
  const [empty] = await parseFiles(codeOf({ 'a.yml': '# nothing\n' }), ['a.yml']);
  assert.equal(empty?.content, null);
});

test('aliases that stand for too much text are refused in the thread', async () => {
  const lines = Array.from({ length: 50 }, (_, at) => `k${at}: *a`);
  const text = `a: &a "${'x'.repeat(200_000)}"\n${lines.join('\n')}\n`;
  await assert.rejects(parseFiles(codeOf({ 'a.yml': text }), ['a.yml']), {
    message: 'a.yml: it is not valid YAML: its aliases stand for more than 4000000 characters',
  });
});
