import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { constantsOfHcl, parseHcl } from './hcl.ts';

test('HCL that exceeds a limit is refused with the name of its file, before it is parsed', async () => {
  const refused = (text: string) =>
    assert.rejects(parseHcl([{ name: 'main.tf', text }]), /^Error: main\.tf: /);
  await refused(`a = ${'['.repeat(101)}${']'.repeat(101)}`);
  await refused(`a = "${'x'.repeat(1_000_000)}"`);
});

test('brackets in comments and strings do not count as nesting', async () => {
  const smiles = `# ${':('.repeat(200)}\n// ${'['.repeat(200)}\na = "${'('.repeat(200)}"\n`;
  assert.deepEqual(await parseHcl([{ name: 'main.tf', text: smiles }]), [{ body: { a: '('.repeat(200) } }]);
});

test('texts that are hard on the parser leave it usable for the next text', async () => {
  for (const text of [`${'!'.repeat(200_000)}true`, '"${'.repeat(150), `${'true ? 1 : '.repeat(50_000)}1`]) {
    await constantsOfHcl([{ name: 'v', text }]).catch((error: Error) => assert.match(error.message, /^v: /));
  }
  assert.deepEqual(await constantsOfHcl([{ name: 'v', text: '[1, 2]' }]), [[1, 2]]);
});

test('messages repeat no part of a secret, whatever is wrong with it', async () => {
  const good = { name: 'good', text: '"a"' };
  for (const text of [
    '"hunter2',
    '${hunter2}',
    'hunter2',
    '1\nhunter2 = 2',
    `"${'hunter2'.repeat(200_000)}"`,
  ])
    await assert.rejects(constantsOfHcl([good, { name: 'key', text, isSecret: true }]), (error: Error) => {
      assert.equal(error.message, 'key: the secret that it refers to is not valid HCL');
      assert.doesNotMatch(inspect(error), /hunter2/);
      return true;
    });
  assert.deepEqual(await constantsOfHcl([good, { name: 'key', text: '["b"]', isSecret: true }]), [
    'a',
    ['b'],
  ]);
});
