import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotConstant } from './constant-value.ts';
import { checkHclValue } from './parse-hcl-value.ts';

const killers: [name: string, text: string][] = [
  ['5,000 brackets', '['.repeat(5_000)],
  ['50,000 brackets', '['.repeat(50_000)],
  ['400,000 brackets', '['.repeat(400_000)],
  ['parentheses', `${'('.repeat(1_000)}1${')'.repeat(1_000)}`],
  ['negations', `${'!'.repeat(200_000)}true`],
  ['conditions', `${'true ? 1 : '.repeat(50_000)}1`],
  ['templates', `${'"${'.repeat(90)}1`],
  ['a large value', `"${'x'.repeat(1_000_001)}"`],
];

for (const [name, text] of killers)
  test(`the parser survives a hostile value: ${name}`, async () => {
    const startedAt = performance.now();
    let longest = 0;
    let before = startedAt;
    const ticks = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - before);
      before = now;
    }, 10);
    await checkHclValue(text).catch((error: Error) =>
      assert.ok(error.message.length < 1_000, 'a short reason'),
    );
    clearInterval(ticks);
    assert.ok(longest < 2_000, `no one else was answered for ${longest} ms`);
    await checkHclValue('{ a = [1, 2] }');
  });

test('a value is one expression', async () => {
  await checkHclValue('["a", { b = 1 }]');
  await assert.rejects(checkHclValue('{ a = '), /value\.tfvars/);
  await assert.rejects(checkHclValue('1\nother = 2'), /must be one expression/);
});

test('a value may begin with comments and empty lines, and errors name its own line', async () => {
  await checkHclValue('# a\n\n/* b\n*/ // c\n{ a = 1 }');
  await checkHclValue('\n12345678901234567890');
  await assert.rejects(checkHclValue('# a\n\n{ a = '), /value\.tfvars:3,/);
  await assert.rejects(checkHclValue('# a\n1\nother = 2'), /must be one expression/);
});

test('numbers that would fill the memory as digits are refused', async () => {
  await assert.rejects(
    checkHclValue(`[${Array(60_000).fill('1e300').join()}]`),
    /too many digits|takes longer/,
  );
  await checkHclValue('[1e300, 1]');
});

test('a value is a constant, except for a tool that evaluates it', async () => {
  for (const text of ['abc', 'file("x")', '1 + 2', '{ a = var.b }', '# a comment\nvar.a']) {
    await assert.rejects(checkHclValue(text), NotConstant);
    await checkHclValue(text, true);
  }
  await assert.rejects(checkHclValue('1\nother = 2', true), NotConstant);
});

test('values that are checked at once get their own answers', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) => checkHclValue(index % 2 === 0 ? `${index}` : '{')),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected'],
  );
});
