import assert from 'node:assert/strict';
import { test } from 'node:test';
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
