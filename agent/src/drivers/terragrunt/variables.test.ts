import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf } from '../../../testing/driver-job.ts';
import { inputVariables } from './variables.ts';

const cases: [value: string, expected: string][] = [
  ['"a \\"b\\""', 'a "b"'],
  ['# a comment\n"a" // another', 'a'],
  ['\n\n9223372036854775807 /* a */ # b\n', '9223372036854775807'],
  ['/* a\n*/ true', 'true'],
  ['// a\n{ b = 12345678901234567890 } # c', '{ b = 12345678901234567890 } # c'],
  ['"${local.a}"', '"${local.a}"'],
  ['"a" "b"', '"a" "b"'],
];

for (const [value, expected] of cases)
  test(`the HCL value ${JSON.stringify(value)} reaches a unit as the tools read it`, () => {
    const variable = { name: 'v', value, format: 'HCL', isSensitive: false } as const;
    const job = jobOf({ variables: { environment: [], terraform: [variable] } });
    assert.deepEqual(inputVariables(job), { TF_VAR_v: expected });
  });

test('comments that are made to be slow to read are read at once', () => {
  const comments = `${'/* */'.repeat(50_000)}${'#'.repeat(50_000)}\n`;
  const value = `"a"${comments}x${comments}`;
  const variable = { name: 'v', value, format: 'HCL', isSensitive: false } as const;
  const job = jobOf({ variables: { environment: [], terraform: [variable] } });
  assert.deepEqual(inputVariables(job), { TF_VAR_v: value });
});
