import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgainst } from '../../testing/fake-service.ts';

const replies = {
  'GET /organizations': [{ id: 'o1', name: 'Envarium' }],
  'GET /notifications/endpoints': [],
};

test('options before a command of three words count, and its own win', async () => {
  const command = ['notifications', 'endpoints', 'list'];
  const { status, stdout, stderr } = await runAgainst(['--json', ...command], replies);
  assert.deepEqual([status, stdout.trim()], [0, '[]'], stderr);
  const own = await runAgainst(
    ['--organization-id', 'o2', ...command, '--json', '--organization-id', 'o1'],
    replies,
  );
  assert.deepEqual([own.status, own.stdout.trim()], [0, '[]'], own.stderr);
});
