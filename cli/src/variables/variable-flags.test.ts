import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type VariableFlags, variableChanges } from './variable-flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'envarium-cli-'));
after(() => rmSync(folder, { recursive: true }));

/** A file of the test. @returns its path */
function fileWith(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** The message of a refusal, which never repeats a value. */
function refused(flags: VariableFlags, message: RegExp): void {
  assert.throws(
    () => variableChanges(flags),
    (error: Error) =>
      error.name === 'BadCall' && message.test(error.message) && !error.message.includes('hush'),
    String(message),
  );
}

describe('variables on the command line', () => {
  it('variables keep everything after the first equals sign', () => {
    assert.deepEqual(variableChanges({ var: ['query=a=b c', 'empty='], env: ['LEVEL=debug'] }), [
      { name: 'query', value: 'a=b c', type: 1 },
      { name: 'empty', value: '', type: 1 },
      { name: 'LEVEL', value: 'debug', type: 0 },
    ]);
  });

  it('values are read from files, without the last line end; two @ stand for one', () => {
    const file = fileWith('ports', '[80,\n443]\n');
    const schema = { type: 'string', format: 'HCL' };
    assert.deepEqual(
      variableChanges({
        var: [`text=@${file}`, 'owner=@@platform'],
        env: [`PORTS=@${file}`],
        hclVar: [`ports=@${file}`],
        sensitive: [`token=@${file}`],
      }),
      [
        { name: 'text', value: '[80,\n443]', type: 1 },
        { name: 'owner', value: '@platform', type: 1 },
        { name: 'PORTS', value: '[80,\n443]', type: 0 },
        { name: 'ports', value: '[80,\n443]', type: 1, schema },
        { name: 'token', value: '[80,\n443]', type: 1, isSensitive: true },
      ],
    );
  });

  it('the name of a variable that another option reads from a file makes it sensitive', () => {
    const file = fileWith('key', 'k1\n');
    const values = fileWith('secret.tfvars.json', '{"password": "p1", "user": "ada"}');
    assert.deepEqual(
      variableChanges({ env: [`KEY=@${file}`], varFile: [values], sensitive: ['KEY', 'password'] }),
      [
        { name: 'KEY', value: 'k1', type: 0, isSensitive: true },
        { name: 'password', value: 'p1', type: 1, schema: { type: 'string' }, isSensitive: true },
        { name: 'user', value: 'ada', type: 1, schema: { type: 'string' } },
      ],
    );
  });

  it('variables of files are texts or JSON without a lost digit; the later file and other options win', () => {
    const general = fileWith(
      'general.tfvars.json',
      '{"region": "eu", "size": 1, "id": 12345678901234567890, "shape": {"sides": [1.10, null]}}',
    );
    const special = fileWith('special.json', '{"size": 2, "on": true, "none": null}');
    const schema = { type: 'string', format: 'JSON' };
    assert.deepEqual(
      variableChanges({ varFile: [general, special], var: ['region=us'], env: ['on=environment'] }),
      [
        { name: 'region', value: 'us', type: 1 },
        { name: 'on', value: 'environment', type: 0 },
        { name: 'size', value: '2', type: 1, schema },
        { name: 'id', value: '12345678901234567890', type: 1, schema },
        { name: 'shape', value: '{"sides":[1.10,null]}', type: 1, schema },
        { name: 'on', value: 'true', type: 1, schema },
        { name: 'none', value: 'null', type: 1, schema },
      ],
    );
  });

  it('variables of HCL files are texts, JSON where digits count, or the expressions as they are written', () => {
    const file = fileWith(
      'main.tfvars',
      [
        '# "where" = it runs',
        'region = "eu" // not us',
        'quoted="a \\"b\\" \\\\ \\t \\u00e4 $${x} %%{y} $5 100%" /* the end */',
        'id = 12345678901234567890',
        'on = true',
        'none = null',
        'ports = [80, # http }',
        '  443]',
        'shape = { "a]" = "[", sides = { n = 1.10 } }',
        'script = <<-EOT',
        '  echo "hello" # ]',
        '  EOT',
        'padded = <<EOT',
        'a',
        'EOT \t',
        '# old\rtoken = "hush"',
        '// old\u2028token = "hush"',
        'last-one = 1 + 2',
      ].join('\r\n'),
    );
    const text = { type: 1, schema: { type: 'string' } };
    const [hcl, json] = (['HCL', 'JSON'] as const).map((format) => ({
      type: 1,
      schema: { type: 'string', format },
    }));
    assert.deepEqual(variableChanges({ varFile: [file] }), [
      { name: 'region', value: 'eu', ...text },
      { name: 'quoted', value: 'a "b" \\ \t ä ${x} %{y} $5 100%', ...text },
      { name: 'id', value: '12345678901234567890', ...json },
      { name: 'on', value: 'true', ...json },
      { name: 'none', value: 'null', ...json },
      { name: 'ports', value: '[80, # http }\r\n  443]', ...hcl },
      { name: 'shape', value: '{ "a]" = "[", sides = { n = 1.10 } }', ...hcl },
      { name: 'script', value: '<<-EOT\r\n  echo "hello" # ]\r\n  EOT', ...hcl },
      { name: 'padded', value: '<<EOT\r\na\r\nEOT', ...hcl },
      { name: 'last-one', value: '1 + 2', ...hcl },
    ]);
  });

  it('what does not belong in an HCL file of variables is refused with its place, without its contents', () => {
    for (const [text, place] of [
      ['a = 1\nhush {\n}\n', 'line 2 column 1'],
      ['a = "x ${hush}"', 'line 1 column 5'],
      ['a = "hush', 'line 1 column 5'],
      ['a = ["hush"', 'line 1 column 12'],
      ['a = [1}', 'line 1 column 7'],
      ['a =\nb = "hush"', 'line 1 column 4'],
      ['a = 1\n\na = "hush"', 'line 3 column 5'],
      ['"hush" = 1', 'line 1 column 1'],
      ['a == 1', 'line 1 column 1'],
    ] as const)
      refused(
        { varFile: [fileWith('broken.tfvars', text)] },
        new RegExp(`broken\\.tfvars: ${place}: expected`),
      );
  });

  it('unusable files of variables are refused by name, without their contents', () => {
    refused({ varFile: [join(folder, 'no.json')] }, /^--var-file: .*no\.json cannot be read/);
    refused({ varFile: ['prod.tfvars'] }, /^--var-file: prod\.tfvars cannot be read/);
    refused({ varFile: ['prod.yaml'] }, /^--var-file: prod\.yaml: use a \*\.tfvars, \*\.tfvars\.json/);
    for (const [text, message] of [
      ['hush', /broken\.json is not valid JSON\.$/],
      ['{"a": 1,\n"b": "hush" "c"}', /broken\.json is not valid JSON \(line 2 column \d+\)\.$/],
      ['["hush"]', /broken\.json must contain a JSON object/],
      ['12', /broken\.json must contain a JSON object/],
      ['{"": "hush"}', /broken\.json: a variable has no name \(""\)/],
    ] as const)
      refused({ varFile: [fileWith('broken.json', text)] }, message);
  });

  it('unusable variables are refused with the name of their option, without their value', () => {
    refused({ var: ['hush'] }, /^--var must have the form name=value/);
    refused({ var: ['a=@'] }, /^--var a: write the name of a file after @/);
    refused({ sensitive: ['token=hush'] }, /^--sensitive token must be read from a file/);
    refused({ sensitive: ['token=@@hush'] }, /^--sensitive token must be read from a file/);
    refused({ sensitive: ['hush'] }, /^--sensitive must have the form name=@file/);
    refused({ env: ['T=hush'], sensitive: ['T'] }, /^--sensitive T: others see its value/);
    refused({ var: ['a=@-'], varFile: ['-'] }, /^Only one option can read standard input/);
    refused({ env: [`T=@${join(folder, 'nothing')}`] }, /^--env T: .*nothing cannot be read/);
  });
});
