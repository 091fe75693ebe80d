import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { root } from '../tree/repository.ts';
import { programOf } from './program-of.mjs';

test('a program is bundled once, and its bundle runs without other files of its room', async () => {
  const lines: string[] = [];
  const agent = await programOf(root, join(root, 'agent/src/main.ts'), (line) => lines.push(line));
  assert.match(agent, /\/\.cache\/programs\/\w+\/agent\.mjs$/);
  assert.ok(lines.every((line) => line.startsWith('Building the programs: done after')));
  assert.match(
    execFileSync(process.execPath, [agent, '--version'], { encoding: 'utf8' }),
    /^\d+\.\d+\.\d+\n$/,
  );
  const again = await programOf(root, join(root, 'server/src/main.ts'), assert.fail);
  assert.equal(again, join(dirname(agent), 'server.mjs'));
  for (const name of ['state-thread', 'hcl-thread', 'match-thread', 'discovery-file-thread', 'yaml-thread'])
    assert.ok(existsSync(join(dirname(agent), `${name}.mjs`)));
  const source = join(root, 'tools/test.ts');
  assert.equal(await programOf(root, source, assert.fail), source);
});

/** A checkout whose builder writes its number of calls. */
function countingCheckout(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'envarium-programs-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['tools/programs', 'cli/src/nested']) mkdirSync(join(folder, name), { recursive: true });
  const builder = `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const [, , root, folder] = process.argv;
appendFileSync(root + '/calls', 'x');
const source = readFileSync(root + '/cli/src/main.ts', 'utf8');
if (source.includes('broken')) throw new Error('broken source');
writeFileSync(folder + '/envarium.mjs', source);
`;
  writeFileSync(join(folder, 'tools/programs/build-programs.mjs'), builder);
  writeFileSync(join(folder, 'cli/src/main.ts'), '');
  return folder;
}

test('a changed, new or removed source leads to another bundle, a changed test does not', async (t) => {
  const folder = countingCheckout(t);
  const entry = join(folder, 'cli/src/main.ts');
  const calls = async () => {
    await programOf(folder, entry, () => undefined);
    return readFileSync(join(folder, 'calls'), 'utf8').length;
  };
  assert.deepEqual([await calls(), await calls()], [1, 1]);
  writeFileSync(join(folder, 'cli/src/nested/other.ts'), 'other');
  assert.equal(await calls(), 2);
  utimesSync(entry, 1, 1);
  assert.equal(await calls(), 3);
  writeFileSync(join(folder, 'cli/src/nested/other.test.ts'), 'test');
  assert.equal(await calls(), 3);
  rmSync(join(folder, 'cli/src/nested/other.ts'));
  assert.equal(await calls(), 4);
});

test('the Node that runs a bundle builds it, whichever one launches it', async (t) => {
  const folder = countingCheckout(t);
  const node = join(folder, 'node');
  const script = `#!${process.execPath}
const { spawnSync } = require('node:child_process');
require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'built'))}, '');
process.exitCode = spawnSync(process.execPath, process.argv.slice(2)).status;
`;
  writeFileSync(node, script, { mode: 0o755 });
  await programOf(folder, join(folder, 'cli/src/main.ts'), () => undefined, node);
  assert.ok(existsSync(join(folder, 'built')));
  assert.equal(readFileSync(join(folder, 'calls'), 'utf8'), 'x');
});

test('a source that cannot be bundled runs without a bundle, and nothing of the attempt remains', async (t) => {
  const folder = countingCheckout(t);
  const entry = join(folder, 'cli/src/main.ts');
  writeFileSync(entry, 'broken');
  const lines: string[] = [];
  assert.equal(await programOf(folder, entry, (line) => lines.push(line)), entry);
  assert.match(lines.join(), /^The sources run without a bundle, with more time and memory: .*broken source/);
  writeFileSync(entry, 'right');
  const bundled = await programOf(folder, entry, () => undefined);
  assert.equal(readFileSync(bundled, 'utf8'), 'right');
  assert.equal(dirname(dirname(bundled)), join(folder, '.cache/programs'));
});

test('unused bundles are removed after a day, those of running processes are kept', async (t) => {
  const folder = countingCheckout(t);
  const entry = join(folder, 'cli/src/main.ts');
  const old = join(folder, '.cache/programs/old');
  mkdirSync(old, { recursive: true });
  utimesSync(old, 1, 1);
  const used = join(folder, '.cache/programs/used');
  mkdirSync(used);
  utimesSync(used, 1, 1);
  const process = spawn('sleep', ['60'], { argv0: join(used, 'agent.mjs') });
  t.after(() => process.kill());
  const recent = join(folder, '.cache/programs/recent');
  mkdirSync(recent);
  await programOf(folder, entry, () => undefined);
  assert.deepEqual(
    [old, used, recent].map((each) => existsSync(each)),
    [false, true, true],
  );
});
