import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolders } from './places.ts';

const linux = { skip: process.platform === 'linux' ? false : 'needs /proc' };

test("folders of a running service and agent are checked instead of the doctor's own", linux, async (t) => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'running-')));
  t.after(() => rm(base, { recursive: true }));
  const start = async (room: string, settings: Record<string, string>) => {
    const place = join(base, `of-${room}`);
    await mkdir(place);
    await mkdir(join(base, room, 'src'), { recursive: true });
    const program = join(base, room, 'src', 'main.ts');
    await writeFile(program, 'setInterval(() => {}, 1000);\n');
    const child = spawn(process.execPath, [program], { cwd: place, env: settings, stdio: 'ignore' });
    // Without its file, which the folder loses first, it may end before it is killed.
    const ended = once(child, 'exit');
    t.after(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return { pid: child.pid, place };
  };
  const secrets = { ENVARIUM_BOOTSTRAP_API_SECRET: 'hidden-secret', DATABASE_URL: 'postgres://u:hidden@h' };
  const service = await start('server', { ...secrets, ENVARIUM_SEALING_KEY_FILE: 'keys/gone' });
  const agent = await start('agent', { ENVARIUM_SPOOL_DIR: 'results', ENVARIUM_TOOL_CACHE_DIR: '' });
  const findings = await checkFolders({});
  const texts = findings.map(({ check, text }) => `${check}: ${text}`);
  const has = (pattern: string) =>
    assert.ok(
      texts.some((text) => text.includes(pattern)),
      texts.join('\n'),
    );
  has(`running: service, process ${service.pid}`);
  has(`running: agent, process ${agent.pid}`);
  has(`data folder: ${join(service.place, 'data')}, `);
  has(`sealing key: ${join(service.place, 'keys', 'gone')} does not exist`);
  has(`spool folder: ${join(agent.place, 'results')}, `);
  assert.doesNotMatch(JSON.stringify(findings), /hidden/);
  assert.ok(!texts.some((text) => text.includes(join(process.cwd(), 'spool'))), texts.join('\n'));
});

test('the doctor says when nothing runs, and checks the folders of its own environment', async (t) => {
  const base = await mkdtemp(join(tmpdir(), 'running-'));
  t.after(() => rm(base, { recursive: true }));
  const [first, spool] = await checkFolders({ ENVARIUM_SPOOL_DIR: base }, base);
  assert.match(first?.text ?? '', /^no service or agent was found on this machine/);
  assert.match(spool?.text ?? '', new RegExp(`^${base}, `));
});
