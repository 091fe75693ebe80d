/** Messages of Ansible in several lines, or in too many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ansibleDiagnostics, ansibleReason } from './diagnostics.ts';

test('the reason of a failed playbook has a limit, and little advice', () => {
  const host = 'Failed hosts:\n  a failed in task "b": c\n';
  const reason = ansibleReason(host + `  ${'x'.repeat(998)}\n`.repeat(250)) ?? '';
  assert.match(reason, /^a failed in task "b": c\nx{998}\nx{998}\nx{998}$/);
  const long = ansibleReason(host + `  ${'x'.repeat(9_000)}\n`.repeat(20)) ?? '';
  assert.ok(long.endsWith('…'));
  assert.ok(Buffer.byteLength(long) <= 4_096);
});

test('warnings that Ansible wraps are complete', () => {
  const output = `[WARNING]: first line of a long
warning that wraps
ok: [web1]
[DEPRECATION WARNING]: The old way is deprecated.
This feature will be removed.
[WARNING]: 

PLAY [all] ***
[WARNING]: the last
Starting galaxy role install process
more
`;
  assert.deepEqual(
    ansibleDiagnostics(output).map(({ text }) => text),
    [
      'first line of a long\nwarning that wraps',
      'The old way is deprecated.\nThis feature will be removed.',
      'the last',
    ],
  );
});

test('roles that were not installed are found in wrapped warnings', () => {
  const output = `[WARNING]: - a_role_with_a_long_name was NOT installed
successfully: <urlopen
error [Errno -2] Name or service not known>
ERROR! - you can use --ignore-errors to skip failed roles and finish processing the list.
`;
  assert.match(
    ansibleReason(output) ?? '',
    /^- a_role_with_a_long_name was NOT installed\nsuccessfully: <urlopen\nerror [^]*\n\nThe server of roles and collections cannot/,
  );
});
