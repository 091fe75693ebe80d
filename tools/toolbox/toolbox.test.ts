import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { toolboxProgram, withToolbox } from './places.ts';
import { toolNames } from './recipes.ts';

const run = promisify(execFile);
const entry = join(import.meta.dirname, 'main.ts');
const hasGo = await run('go', ['version']).then(
  () => true,
  () => false,
);

async function emptyToolbox(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolbox '));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const toolbox = (folder: string, changes: NodeJS.ProcessEnv = {}, ...args: string[]) =>
  run(process.execPath, [entry, ...args], { env: { ...process.env, TOOLBOX_DIR: folder, ...changes } });

test('two builds at once build once, for everybody to execute', {
  skip: hasGo ? false : 'needs Go',
}, async (t) => {
  const folder = await emptyToolbox(t);
  const outputs = await Promise.all([1, 2].map(() => toolbox(folder, {}, 'provider-time')));
  assert.equal(outputs.filter(({ stdout }) => stdout.includes('(built in ')).length, 1);
  const program =
    /^✔ provider-time: (\/.*terraform-provider-time_v[\d.]+)/m.exec(outputs[0]?.stdout ?? '')?.[1] ?? '';
  assert.equal((await stat(program)).mode & 0o777, 0o755);
  assert.equal((await stat(dirname(program))).mode & 0o777, 0o755);
  const left = await readdir(dirname(dirname(program)));
  assert.deepEqual(
    left.filter((name) => name.includes('partial')),
    [],
  );
  assert.match(
    (await toolbox(folder, {}, '--paths', 'provider-time')).stdout,
    new RegExp(`^provider-time\\t${program}$`, 'm'),
  );
});

test('a machine without Go, and an unknown name, get an error that says what to do', async (t) => {
  const folder = await emptyToolbox(t);
  await assert.rejects(toolbox(folder, { PATH: folder }), {
    code: 1,
    stderr: /install it from https:\/\/go\.dev\/dl\//,
  });
  await assert.rejects(toolbox(folder, {}, 'hammer'), {
    code: 2,
    stderr: /no tool hammer .*opentofu, provider-time/,
  });
});

test('what is not built is a skip that says how to get it, and a failure where it is required', async (t) => {
  const kept = { TOOLBOX_REQUIRED: process.env.TOOLBOX_REQUIRED, TOOLBOX_DIR: process.env.TOOLBOX_DIR };
  t.after(() => {
    for (const [name, value] of Object.entries(kept)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  process.env.TOOLBOX_DIR = join(await emptyToolbox(t), 'none');
  delete process.env.TOOLBOX_REQUIRED;
  for (const name of toolNames) assert.equal(toolboxProgram(name), null);
  assert.match(String(withToolbox('opentofu').skip), /install Go, then "npm run toolbox -- opentofu"/);
  process.env.TOOLBOX_REQUIRED = 'true';
  assert.throws(
    () => withToolbox('opentofu', 'provider-time'),
    /opentofu and provider-time.*not skipped where TOOLBOX_REQUIRED is set/,
  );
  assert.equal(existsSync(process.env.TOOLBOX_DIR), false);
});
