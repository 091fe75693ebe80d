import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOfRun } from './leaks.ts';

test('commands of runs are known by their programs, not by the folders in which programs are installed', () => {
  const commands = [
    '/usr/local/bin/terraform apply',
    '/usr/bin/git fetch',
    'git-remote-https origin',
    'sh -c true',
    '/bin/bash script',
    'bwrap --ro-bind / /',
    '/srv/fresh/envarium/node_modules/bin/node /srv/fresh/envarium/server.mjs',
    '/home/someone/git/terraform/node agent.mjs',
    '/usr/bin/bwrap -- node tree-server each',
    'postgres: checkpointer',
  ];
  assert.deepEqual(
    commands.filter((command) => isOfRun({ command })),
    commands.slice(0, 6),
  );
});
