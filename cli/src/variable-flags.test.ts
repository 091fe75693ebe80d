import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { variableChanges } from './variable-flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'envarium-cli-'));
after(() => rmSync(folder, { recursive: true }));

describe('variables on the command line', () => {
  it('variables keep everything after the first equals sign', () => {
    assert.deepEqual(variableChanges({ var: ['query=a=b c', 'empty='], envVar: ['LEVEL=debug'] }), [
      { name: 'query', value: 'a=b c', type: 1 },
      { name: 'empty', value: '', type: 1 },
      { name: 'LEVEL', value: 'debug', type: 0 },
    ]);
  });

  it('sensitive variables are read from a file, without its last line end', () => {
    const file = join(folder, 'token');
    writeFileSync(file, 'first\nsecond\n');
    assert.deepEqual(variableChanges({ sensitiveVar: [`token=@${file}`] }), [
      { name: 'token', value: 'first\nsecond', type: 1, isSensitive: true },
    ]);
  });

  it('unusable variables are refused with the name of their flag, without their value', () => {
    const refused = (flags: Parameters<typeof variableChanges>[0], message: RegExp) =>
      assert.throws(
        () => variableChanges(flags),
        (error: Error) =>
          error.name === 'BadCall' && message.test(error.message) && !error.message.includes('hush'),
      );
    refused({ var: ['hush'] }, /^--var must have the form name=value/);
    refused({ sensitiveVar: ['token=hush'] }, /^--sensitive-var token must be read from a file/);
    refused(
      { sensitiveEnvVar: [`T=@${join(folder, 'nothing')}`] },
      /^--sensitive-env-var T: .*nothing cannot be read/,
    );
    refused({ sensitiveVar: ['a=@-', 'b=@-'] }, /Only one sensitive variable/);
  });
});
