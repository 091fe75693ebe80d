import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type RequestedVersion } from '../../toolchain/choose-tool.ts';
import { findRequestedVersion } from './requested-version.ts';

const file = 'live/.terraform-version';
const by = `the file ${file}`;

/** The version that a run requests whose code has the text in that file. */
function readVersionFile(text: string): Promise<RequestedVersion> {
  const attempt = {
    job: { type: 'deploy', tool: 'terraform' },
    ...{ environment: {}, path: 'live', folders: { tree: '/tree' }, steps: { log: () => {} } },
    tree: { read: async (_root: string, name: string) => (name === file ? Buffer.from(text) : null) },
  };
  return findRequestedVersion(
    attempt as unknown as Parameters<typeof findRequestedVersion>[0],
    'variables:setup',
    'terraform',
  );
}

test('the first line that is neither empty nor a comment counts', async () => {
  for (const text of [
    '1.9.8',
    'v1.9.8\n',
    '\uFEFF1.9.8\r\n',
    '# ours\n\n  1.9.8  # until March\n1.2.3\n',
    '#x\r1.9.8\r',
  ])
    assert.deepEqual(
      await readVersionFile(text),
      { kind: 'exact', version: '1.9.8', by },
      JSON.stringify(text),
    );
  assert.deepEqual(await readVersionFile('1.10.0-beta1\n'), { kind: 'exact', version: '1.10.0-beta1', by });
});

test('keywords have the same meaning as in tfenv', async () => {
  assert.deepEqual(await readVersionFile('latest\n'), { kind: 'latest', by });
  assert.deepEqual(await readVersionFile('min-required\n'), { kind: 'code', by });
  assert.deepEqual(await readVersionFile('latest-allowed\n'), { kind: 'code', by, takes: 'newest' });
  for (const like of ['^1.9', '^1\\.9\\.', '1.9', '^1.[0-9]+$', '^1\\.9\\.[2-4]$'])
    assert.deepEqual(await readVersionFile(`latest:${like}`), { kind: 'latest', by, like: new RegExp(like) });
});

test('any other text is refused with the name of the file', async () => {
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
    await assert.rejects(readVersionFile(wrong), {
      message: `${by} contains ${JSON.stringify(wrong)}, which is not a version: use an exact one such as 1.9.8, latest, latest:^1.9, min-required or latest-allowed`,
    });
  for (const wrong of ['', '(a+)+$', '[9-1]', '^1.9|^1.8', '.*.*.*', '^1.9+.9'])
    await assert.rejects(
      readVersionFile(`latest:${wrong}`),
      /contains "latest:.*", which is not valid: latest: must be followed by/,
    );
  for (const empty of ['', '\n\n', '# nothing\n'])
    await assert.rejects(readVersionFile(empty), /^RunFailure: the file .* is empty: use/);
  await assert.rejects(readVersionFile('x'.repeat(5000)), ({ message }: Error) => message.length < 400);
});

test('any content is a version or an error that names the file', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.string().map((end) => `latest:${end}`),
      ),
      async (text) => {
        try {
          assert.ok('by' in (await readVersionFile(text)));
        } catch (error) {
          assert.ok((error as Error).message.startsWith(by), String(error));
        }
      },
    ),
  );
});
