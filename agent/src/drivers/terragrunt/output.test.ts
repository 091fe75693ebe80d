import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jobOf } from '../../../testing/driver-job.ts';
import { terragruntReason } from './diagnostics.ts';
import { terragrunt } from './driver.ts';
import { terragruntProgress } from './progress.ts';
import { inputProblem, inputVariables } from './variables.ts';

test('events of a recorded apply carry their unit', async () => {
  const log = await readFile(join(import.meta.dirname, '__fixtures__', '1.1.3.apply.log'));
  const reader = terragruntProgress();
  const events = [...reader.read(log.subarray(0, 3_001)), ...reader.read(log.subarray(3_001))];
  assert.deepEqual(
    events
      .filter(({ action }) => action !== 'read')
      .map(({ address, moduleName, status, action }) => [address, moduleName, status, action]),
    [
      ['app/terraform_data.it', 'app', 'started', 'create'],
      ['app/terraform_data.it', 'app', 'done', 'create'],
    ],
  );
});

test('output without a unit is that of the only one, and output of programs causes no events', () => {
  const reader = terragruntProgress();
  const lines = [
    'terraform_data.it: Creating...',
    '10:00:00.000 STDOUT [vpc] terraform: terraform_data.it (local-exec): terraform_data.other: Creating...',
    '10:00:00.000 INFO   [vpc] terraform_data.hook: Creating...',
    '\u001b[90m10:00:00.000\u001b[m \u001b[37mSTDOUT\u001b[m \u001b[38;5;66m[a/b] \u001b[m\u001b[36mtofu: \u001b[mmodule.m.x_y.it[0]: Destroying... [id=1]',
  ];
  const events = reader.read(Buffer.from(`${lines.join('\n')}\n`));
  assert.deepEqual(
    events.map(({ address, moduleName, action }) => [address, moduleName, action]),
    [
      ['terraform_data.it', '', 'create'],
      ['a/b/module.m.x_y.it[0]', 'a/b/module.m', 'delete'],
    ],
  );
});

test('the first error of a unit is the message, else that of terragrunt itself', () => {
  const unit = [
    '10:00:00.000 STDERR [app] tofu: Error: Mismatch between input and plan variable value',
    '10:00:00.000 STDERR [db] tofu: something else',
    '10:00:00.000 STDERR [app] tofu: Value saved in the plan file is different.',
    '10:00:00.001 ERROR  Run failed: error occurred:',
    '',
    '* Failed to execute "tofu apply"',
  ];
  assert.equal(
    terragruntReason(unit.join('\n')),
    'unit app: Error: Mismatch between input and plan variable value\nValue saved in the plan file is different.',
  );
  const failed = ['app', 'db'].map((name) => `10:00:00.000 STDERR [${name}] tofu: Error: ${name} failed`);
  assert.equal(terragruntReason(failed.join('\n')), 'unit app: Error: app failed (and 1 more error)');
  const own = [
    '10:00:00.000 ERROR  ./a/terragrunt.hcl:2,1-1: Missing name',
    '  On line 2',
    '10:00:00.001 INFO   TIP x',
  ];
  assert.equal(terragruntReason(own.join('\n')), './a/terragrunt.hcl:2,1-1: Missing name\n  On line 2');
  assert.equal(terragruntReason('all is well'), null);
});

test('variables are texts that the tools read as what they are', () => {
  const variable = (value: string, format?: 'HCL' | 'JSON') => ({
    variables: {
      environment: [],
      terraform: [{ name: 'v', value, isSensitive: false, ...(format === undefined ? {} : { format }) }],
    },
  });
  for (const [value, format, expected] of [
    ['${plain} "text"', undefined, '${plain} "text"'],
    ['"quoted"', 'HCL', 'quoted'],
    ['["a", 1]', 'HCL', '["a", 1]'],
    ['{"a": "${b}%{c}"}', 'JSON', '{"a":"$${b}%%{c}"}'],
    ['"text ${a}"', 'JSON', 'text ${a}'],
  ] as const)
    assert.deepEqual(inputVariables(variable(value, format)), { TF_VAR_v: expected });
  assert.throws(
    () => inputVariables(variable('{', 'JSON')),
    /^Error: Variable "v": its value is not valid JSON/,
  );
});

test('a value with a zero character is refused by the name of its variable, however it is written', () => {
  const encoded = JSON.stringify('planted\0--ro-bind');
  for (const [value, format] of [
    [encoded, 'JSON'],
    [encoded, 'HCL'],
    ['planted\0', undefined],
  ] as const) {
    const variable = { name: 'size', value, isSensitive: false, ...(format ? { format } : {}) };
    const expected =
      'size: terragrunt passes variables through the environment, which cannot hold a zero character';
    assert.equal(inputProblem(variable), expected);
    const job = jobOf({ tool: 'terragrunt', variables: { environment: [], terraform: [variable] } });
    assert.deepEqual(terragrunt.refusals(job), [expected]);
  }
  // Escaped in a text of JSON, it stays escaped.
  const list = { name: 'v', value: '["a\\u0000"]', isSensitive: false, format: 'JSON' } as const;
  assert.equal(inputProblem(list), null);
});
