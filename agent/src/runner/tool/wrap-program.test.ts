import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { tofuFiles } from '../../drivers/terraform/code/files.ts';
import { workFolderPaths } from '../../slots/work-folder.ts';
import { wrapProgram } from './command-environment.ts';

/** A wrapped program that prints how it was started; the role lets plans start and applies without a known plan not. */
function stage(t: TestContext) {
  const root = temporaryFolder(t, 'wrap "program" $HOME ');
  const folders = workFolderPaths(root, { type: 'deploy', environmentId: 'one', deploymentId: 'two' });
  for (const folder of ['unit', 'one/tmp']) mkdirSync(join(root, folder), { recursive: true });
  const tool = join(root, 'the tool');
  const text = `#!${process.execPath}\nconsole.log(JSON.stringify({ words: process.argv.slice(2), env: process.env, pid: process.pid }));\n`;
  writeFileSync(tool, text, { mode: 0o755 });
  const wrapped = { program: 'tofu', variable: 'TG_TF_PATH', verbs: ['plan', 'apply'] } as const;
  const write = () =>
    wrapProgram(
      { folders },
      { tofu: tool },
      { ...wrapped, role: 'unit-values', args: ['all', JSON.stringify(tofuFiles), root] },
    );
  const file = write()['TG_TF_PATH'] ?? '';
  const start = (words: readonly string[], env: Record<string, string> = {}) => {
    const ended = spawnSync(file, words, { env, cwd: join(root, 'unit'), encoding: 'utf8' });
    const [line = ''] = ended.stdout.split('\n');
    const report = line === '' ? null : (JSON.parse(line) as Record<'words' | 'env' | 'pid', unknown>);
    return { ...ended, report };
  };
  return { file, start, write };
}

test('a wrapped program starts with its words and variables, in the same process', (t) => {
  const { start } = stage(t);
  const words = ['-version', '', '$HOME "x"', '--', '-var=a b'];
  const environments: Record<string, string>[] = [
    { A: 'b c', ENVARIUM_B: '${A}' },
    { NODE_OPTIONS: '--trace-uncaught' },
    { PATH: '/nowhere' },
  ];
  for (const env of environments) {
    for (const verb of [...words.slice(0, 1), 'plan']) {
      const { report, pid, stderr, status } = start([verb, ...words], env);
      assert.deepEqual(report, { words: [verb, ...words], env, pid });
      assert.deepEqual([stderr, status], ['', 0]);
    }
  }
});

test('what a variable has Node do does not happen in the wrapper', (t) => {
  const { start } = stage(t);
  const env = { NODE_OPTIONS: '--import=data:text/javascript,process.execve=()=>process.exit(0)' };
  const refused = start(['apply', '-auto-approve'], env);
  assert.match(refused.stderr, /^Error: The values of the plan are not known\n/);
  assert.equal(refused.status, 1);
  assert.deepEqual(start(['plan'], env).report?.env, env);
});

test('a wrapper that was changed is written again, for reading only', (t) => {
  const { file, start, write } = stage(t);
  rmSync(file);
  writeFileSync(file, '', { mode: 0o777 });
  write();
  assert.equal(statSync(file).mode & 0o777, 0o555);
  assert.equal(start(['apply']).status, 1);
});
