import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, textOf } from '../tree/repository.ts';

const [, section = ''] = /^## Measures\n([^]*?)^## /m.exec(textOf('CONTRIBUTING.md') ?? '') ?? [];
/** Commands that only read. Those that start npm take minutes. */
const commands = Array.from(
  section.matchAll(/`((?:ls|sed|grep|git) [^`]+)`/g),
  ([, command = '']) => command,
);
const isRepository = existsSync(join(root, '.git'));

test('the commands that show a measure print it', { skip: !isRepository && 'not a git repository' }, () => {
  assert.equal(commands.length, 7);
  for (const command of commands)
    assert.match(execFileSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' }), /\w/, command);
});
