import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readVersionFile } from './requested-version.ts';

const file = 'live/.terraform-version';
const by = `the file ${file}`;

test('the first line that is neither empty nor a comment counts', () => {
  for (const text of [
    '1.9.8',
    'v1.9.8\n',
    '\uFEFF1.9.8\r\n',
    '# ours\n\n  1.9.8  # until March\n1.2.3\n',
    '#x\r1.9.8\r',
  ])
    assert.deepEqual(
      readVersionFile(text, file),
      { kind: 'exact', version: '1.9.8', by },
      JSON.stringify(text),
    );
  assert.deepEqual(readVersionFile('1.10.0-beta1\n', file), { kind: 'exact', version: '1.10.0-beta1', by });
});

test('keywords have the same meaning as in tfenv', () => {
  assert.deepEqual(readVersionFile('latest\n', file), { kind: 'latest', by });
  assert.deepEqual(readVersionFile('min-required\n', file), { kind: 'code', by });
  assert.deepEqual(readVersionFile('latest-allowed\n', file), { kind: 'code', by, takes: 'newest' });
  for (const like of ['^1.9', '^1\\.9\\.', '1.9', '^1.[0-9]+$', '^1\\.9\\.[2-4]$'])
    assert.deepEqual(readVersionFile(`latest:${like}`, file), { kind: 'latest', by, like: new RegExp(like) });
});

test('any other text is refused with the name of the file', () => {
  for (const wrong of [
    '~> 1.9',
    '>= 1.0, < 2',
    '1.9',
    '1.9.x',
    'newest',
    'RESOLVE_FROM_TERRAFORM_CODE',
    '../../etc',
    '1.9.8 1.9.9',
  ])
    assert.throws(() => readVersionFile(wrong, file), {
      message: `${by} contains ${JSON.stringify(wrong)}, which is not a version: use an exact one such as 1.9.8, latest, latest:^1.9, min-required or latest-allowed`,
    });
  for (const wrong of ['', '(a+)+$', '[9-1]', '^1.9|^1.8', '.*.*.*', '^1.9+.9'])
    assert.throws(
      () => readVersionFile(`latest:${wrong}`, file),
      /contains "latest:.*", which is not valid: latest: must be followed by/,
    );
  for (const empty of ['', '\n\n', '# nothing\n'])
    assert.throws(() => readVersionFile(empty, file), /^Error: the file .* is empty: use/);
  assert.throws(
    () => readVersionFile('x'.repeat(5000), file),
    ({ message }: Error) => message.length < 400,
  );
});

test('any content is a version or an error that names the file', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((end) => `latest:${end}`),
      ),
      (text) => {
        try {
          assert.ok('by' in readVersionFile(text, file));
        } catch (error) {
          assert.ok((error as Error).message.startsWith(by), String(error));
        }
      },
    ),
  );
});
