import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSetup, withBubblewrap, withTerraform } from '../../../testing/runner-setup.ts';
import { ansibleWheels, wheelFile, wheelOf } from '../../../testing/toolchain/python-index.ts';
import type { NetworkOrder } from '../../network/network-order.ts';
import { StopWatch } from '../../processes/stop-watch.ts';
import { findTool } from '../../toolchain/find-tool.ts';
import { asideOf } from './run-aside.ts';

/** Of an agent as the runner's tests have it, with sandboxes where there are any. */
function asideIn(t: TestContext, network?: NetworkOrder, options: Parameters<typeof createSetup>[2] = {}) {
  const setup = createSetup(t, { 'main.tf': '' }, options);
  const job = setup.job();
  const { spool, order } = setup.prepare(job);
  const stop = new StopWatch(spool, job.limits);
  t.after(() => stop[Symbol.dispose]());
  const folder = join(setup.workFolder, 'environment');
  mkdirSync(folder);
  const changed = network === undefined ? order : { ...order, network };
  return { setup, spool, stop, folder, runAside: asideOf({ spool, order: changed, job, stop }) };
}

test(
  'a program for the toolchain gets the network settings of the agent, and nothing else of anybody',
  withTerraform,
  async (t) => {
    const network = { environment: { HTTPS_PROXY: 'http://proxy.example:3128' }, caFile: '/etc/hosts' };
    const { folder, runAside } = asideIn(t, network);
    process.env['PLANTED'] = 'planted';
    t.after(() => void delete process.env['PLANTED']);
    const environment = { PIP_INDEX_URL: 'https://reader:word@index.example/' };
    const { exitCode, output } = await runAside({
      program: '/usr/bin/env',
      args: [],
      environment,
      folder,
      readable: [],
    });
    assert.equal(exitCode, 0);
    const names = output
      .trim()
      .split('\n')
      .map((line) => line.replace(/=.*/, ''));
    const known = ['HOME', 'HTTPS_PROXY', 'LANG', 'PATH', 'PIP_CERT', 'PIP_INDEX_URL', 'PWD', 'TMPDIR'];
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
    );
    assert.match(output, /^HTTPS_PROXY=http:\/\/proxy\.example:3128$/m);
    assert.match(output, /^PIP_CERT=\/etc\/hosts$/m);
  },
);

test('in a sandbox it sees its folder and the machine, and nothing of runs', withBubblewrap, async (t) => {
  const { setup, folder, runAside } = asideIn(t);
  const other = join(setup.workFolder, 'another-run');
  mkdirSync(other);
  writeFileSync(join(other, 'secret'), 'opensesame');
  const run = (program: string, ...args: string[]) =>
    runAside({ program, args, environment: {}, folder, readable: [] });
  assert.equal((await run('/usr/bin/touch', join(folder, 'made'))).exitCode, 0);
  assert.ok(existsSync(join(folder, 'made')));
  assert.notEqual((await run('/usr/bin/cat', join(other, 'secret'))).exitCode, 0);
  assert.notEqual((await run('/usr/bin/touch', join(other, 'made'))).exitCode, 0);
  assert.notEqual((await run('/usr/bin/touch', '/usr/made')).exitCode, 0);
});

for (const options of [{}, { isolation: 'off' }] as const)
  test(
    `Ansible is installed where runs are as with ${JSON.stringify(options)}`,
    withBubblewrap,
    async (t) => {
      const { setup, runAside } = asideIn(t, undefined, options);
      const wheels = join(setup.folder, 'wheels');
      mkdirSync(wheels);
      for (const wheel of ansibleWheels('2.16.3', '9.2.0'))
        writeFileSync(join(wheels, wheelFile(wheel)), wheelOf(wheel));
      const cacheFolder = join(setup.workFolder, '.tools');
      mkdirSync(cacheFolder);
      const order = { cacheFolder, cacheBytes: 1e9, mirrors: { 'ansible-playbook': { url: wheels } } };
      const { program } = await findTool(
        { order, signal: new AbortController().signal, log: () => undefined, runAside },
        {
          name: 'ansible-playbook',
          wanted: { kind: 'latest', by: 'ansibleVersion' },
          onPath: null,
          required: async () => [],
        },
      );
      assert.match(execFileSync(program, ['--version'], { encoding: 'utf8' }), /core 2\.16\.3/);
    },
  );

test('it ends with the run that waits for it', withTerraform, async (t) => {
  const { spool, stop, folder, runAside } = asideIn(t);
  const waiting = runAside({
    program: '/usr/bin/sleep',
    args: ['60'],
    environment: {},
    folder,
    readable: [],
  });
  writeFileSync(spool.control, JSON.stringify({ abort: 'now' }));
  stop.check();
  assert.equal((await waiting).exitCode, null);
  await assert.rejects(
    runAside({ program: '/usr/bin/env', args: [], environment: {}, folder, readable: [] }),
    /aborted/,
  );
});
