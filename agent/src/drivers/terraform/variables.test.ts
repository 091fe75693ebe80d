import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobVariable } from '#protocol/messages/job.ts';
import { variablesFile } from './variables.ts';

const fileOf = (...terraform: Partial<JobVariable>[]) =>
  variablesFile({
    variables: {
      environment: [],
      terraform: terraform.map((variable) => ({
        name: 'a',
        value: '',
        isSensitive: false,
        scope: 'PROJECT',
        ...variable,
      })),
    },
  });

describe('the variables file', () => {
  it('is secret and holds text as text, JSON and HCL as structure', async () => {
    const file = await fileOf(
      { name: 'text', value: '["${x}"]\n"' },
      { name: 'json', value: '{"big": 12345678901234567890}', format: 'JSON' },
      {
        name: 'hcl',
        value: '{\n  a = ["$${x}", true, null, 1.5]\n  "b c" = <<-E\n    text\n  E\n}',
        format: 'HCL',
      },
      { name: '__proto__', value: 'x' },
    );
    assert.equal(file?.name, 'envarium.auto.tfvars.json');
    assert.equal(file?.isSecret, true);
    const content = JSON.parse(file!.content) as Record<string, unknown>;
    assert.equal(content['text'], '["${x}"]\n"');
    assert.deepEqual(content['hcl'], { a: ['${x}', true, null, 1.5], 'b c': 'text\n' });
    assert.match(file!.content, /"big": 12345678901234567890/);
    assert.match(file!.content, /"__proto__": "x"/);
  });

  it('has numbers of HCL with all of their digits', async () => {
    const file = await fileOf(
      { name: 'large', value: '9223372036854775807', format: 'HCL' },
      {
        name: 'map',
        value: '{ a = [-12345678901234567890, 0.1000000000000000055511151231257827] }',
        format: 'HCL',
      },
      { name: 'exponent', value: '1e30', format: 'HCL' },
    );
    assert.match(file!.content, /"large": 9223372036854775807,/);
    assert.match(file!.content, /\{"a":\[-12345678901234567890,0\.1000000000000000055511151231257827\]\}/);
    assert.match(file!.content, /"exponent": 10{30}\n/);
  });

  it('has values of HCL that begin with comments and empty lines', async () => {
    const beginnings = ['# a comment\n', '\n\n  ', '// { "\n', '/* a\n * b */', '\r\n#\n/**/ \n'];
    for (const beginning of beginnings) {
      const file = await fileOf(
        { name: 'list', value: `${beginning}[\n  "a", # b\n]`, format: 'HCL' },
        { name: 'text', value: `${beginning}<<E\n# c\nE`, format: 'HCL' },
      );
      assert.deepEqual(JSON.parse(file!.content), { list: ['a'], text: '# c\n' }, beginning);
    }
    for (const value of ['# only a comment', '\n\n', '/* no end'])
      await assert.rejects(fileOf({ name: 'list', value, format: 'HCL' }), /its HCL value does not parse/);
  });

  it('is left out without variables', async () => {
    assert.equal(await fileOf(), null);
  });

  it('names the variable whose value does not fit, and never its value', async () => {
    const cases: [Partial<JobVariable>, RegExp][] = [
      [
        { name: 'list', value: '{"hunter2": ', format: 'JSON' },
        /^Variable "list" \(scope PROJECT\): its value is not valid JSON/,
      ],
      [
        { name: 'list', value: '["hunter2"', format: 'HCL' },
        /^Variable "list" \(scope PROJECT\): its HCL value does not parse: /,
      ],
      [
        { name: 'list', value: '1\nhunter2 = 2', format: 'HCL' },
        /^Variable "list" \(scope PROJECT\): an HCL value must be one expression/,
      ],
      [
        { name: 'list', value: 'toset(["hunter2"])', format: 'HCL' },
        /^Variable "list" \(scope PROJECT\): an HCL value must be a constant/,
      ],
      [
        { name: 'list', value: '"a ${hunter2}"', format: 'HCL' },
        /^Variable "list" \(scope PROJECT\): an HCL value must be a constant/,
      ],
    ];
    for (const [variable, expected] of cases) {
      await assert.rejects(
        fileOf(variable),
        (error: Error) => expected.test(error.message) && !error.message.includes('hunter2'),
        variable.value,
      );
    }
  });
});

describe('the name of the variables file', () => {
  const nameAmong = async (names: readonly string[]) => {
    const terraform = [{ name: 'a', value: 'b', isSensitive: false }];
    return (await variablesFile({ variables: { environment: [], terraform } }, names))?.name ?? '';
  };

  it('is the last one that the tools read, also in a later phase', async () => {
    const repositories = [
      [],
      ['main.tf', 'aaa.auto.tfvars'],
      ['zz.auto.tfvars'],
      ['zz.auto.tfvars', 'zz.auto.tfvars.json'],
      ['zz~_envarium.auto.tfvars.json'],
      ['zz~_envarium.auto.tfvars.json', 'zz~_envarium~.auto.tfvars'],
      ['~~.auto.tfvars', 'é.auto.tfvars'],
    ];
    for (const names of repositories) {
      const name = await nameAmong(names);
      const all = [...new Set([...names, name])].filter((one) => one.includes('.auto.tfvars'));
      const last = all.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))).at(-1);
      assert.equal(name, last, names.join(' '));
      assert.match(name, /\.auto\.tfvars\.json$/);
      assert.equal(await nameAmong(all), name);
    }
  });
});
