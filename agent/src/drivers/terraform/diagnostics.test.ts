import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { lastTerraformDiagnostic } from './diagnostics.ts';

const recorded = (name: string) => readFile(join(import.meta.dirname, '__fixtures__', name), 'utf8');

describe('the last diagnostic', () => {
  it('is the same plain text from a coloured box and without colours', async () => {
    const boxed = lastTerraformDiagnostic(await recorded('failed-1.11.4.apply.log'));
    assert.match(boxed!, /^Error: local-exec provisioner error\n\n {2}with terraform_data\.bad,\n/);
    assert.match(boxed!, /terraform_data\.fake: Creating\.\.\.$/);
    assert.equal(lastTerraformDiagnostic(await recorded('failed-no-color-1.11.4.apply.log')), boxed);
  });

  it('is the last error, not a warning after it', () => {
    const box = (kind: string, text: string) =>
      `\x1b[31m╷\x1b[0m\n\x1b[31m│\x1b[0m \x1b[1m${kind}: \x1b[0m${text}\n\x1b[31m│\x1b[0m \n\x1b[31m│\x1b[0m more of ${text}\n\x1b[31m╵\x1b[0m\n`;
    const output = box('Error', 'one') + box('Error', 'two') + box('Warning', 'three');
    assert.equal(lastTerraformDiagnostic(output), 'Error: two\n\nmore of two');
    assert.equal(lastTerraformDiagnostic('\nError: one\n\ntext\n\nWarning: two\n'), 'Error: one\n\ntext');
  });

  it('is null where there is none', () => {
    assert.equal(lastTerraformDiagnostic('Apply complete!\nno Error: here\n'), null);
    assert.equal(lastTerraformDiagnostic(''), null);
  });

  it('has at most 4 KiB', () => {
    const message = lastTerraformDiagnostic(`Error: ${'é'.repeat(10_000)}`)!;
    assert.ok(Buffer.byteLength(message) <= 4096 && message.endsWith('é…'));
  });
});
