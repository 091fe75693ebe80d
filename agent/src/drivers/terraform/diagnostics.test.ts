import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { terraformDiagnostics, terraformReason } from './diagnostics.ts';

const recorded = (name: string) => readFile(join(import.meta.dirname, '__fixtures__', name), 'utf8');

describe('the reason of a failure', () => {
  it('is the same plain text from a coloured box and without colours', async () => {
    const boxed = terraformReason(await recorded('failed-1.11.4.apply.log'));
    assert.match(boxed!, /^Error: local-exec provisioner error\n\n {2}with terraform_data\.bad,\n/);
    assert.match(boxed!, /terraform_data\.fake: Creating\.\.\.$/);
    assert.equal(terraformReason(await recorded('failed-no-color-1.11.4.apply.log')), boxed);
  });

  const box = (kind: string, text: string) =>
    `\x1b[31m╷\x1b[0m\n\x1b[31m│\x1b[0m \x1b[1m${kind}: \x1b[0m${text}\n\x1b[31m│\x1b[0m \n\x1b[31m│\x1b[0m more of ${text}\n\x1b[31m╵\x1b[0m\n`;

  it('is the first error and how many more there are, whatever warnings are between them', () => {
    const output =
      box('Warning', 'zero') + box('Error', 'one') + box('Warning', 'two') + box('Error', 'three');
    assert.equal(terraformReason(output), 'Error: one (and 1 more error)\n\nmore of one');
    assert.equal(
      terraformReason(output + box('Error', 'four') + box('Error', 'one')),
      'Error: one (and 2 more errors)\n\nmore of one',
    );
    assert.equal(terraformReason('\nError: one\n\ntext\n\nWarning: two\n'), 'Error: one\n\ntext');
  });

  it('has all errors, failed checks and warnings next to it', () => {
    const failed = 'Check block assertion failed';
    assert.deepEqual(
      terraformDiagnostics(
        box('Error', 'one') + box('Warning', 'two') + box('Error', 'three') + box('Warning', failed),
      ),
      [
        { severity: 'error', text: 'Error: one\n\nmore of one' },
        { severity: 'warning', text: 'Warning: two\n\nmore of two' },
        { severity: 'error', text: 'Error: three\n\nmore of three' },
        { severity: 'check', text: `Warning: ${failed}\n\nmore of ${failed}` },
      ],
    );
    const plain = '\nWarning: two\n\ntext\n\n─────────────────\n\nSaved the plan to: p\n';
    assert.deepEqual(terraformDiagnostics(plain), [{ severity: 'warning', text: 'Warning: two\n\ntext' }]);
  });

  it('is null where there is none', () => {
    assert.equal(terraformReason('Apply complete!\nno Error: here\n'), null);
    assert.equal(terraformReason(''), null);
  });

  it('has at most 4 KiB', () => {
    const message = terraformReason(`Error: ${'é'.repeat(10_000)}`)!;
    assert.ok(Buffer.byteLength(message) <= 4096 && message.endsWith('é…'));
  });
});
