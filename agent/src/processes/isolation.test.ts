import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { endProcessesIn, processesIn } from './end-processes.ts';
import { execute } from './exec.ts';
import { RunFailure } from './failure.ts';
import { findIsolation } from './isolation.ts';
import { findProgram } from './programs.ts';
import type { Sandbox } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { pidInside, spawnInSandbox } from './spawn-in-sandbox.ts';

const uid = process.getuid?.() === 0 ? 58_992 : null;
const withBubblewrap = { skip: findProgram('bwrap') === null ? 'needs bubblewrap' : false };

async function isolationOf(folder: string) {
  return findIsolation({ mode: 'auto', slotUid: uid, folder, readable: [], hidden: [], isOffline: false });
}

/** Runs a program of the system in a sandbox and returns what it printed. */
async function run(folder: string, hasNetwork: boolean, ...command: string[]): Promise<string> {
  const { isolation, problem } = await isolationOf(folder);
  assert.equal(problem, null);
  const child = spawnInSandbox({
    isolation,
    sandbox: { writable: [], readable: [], temporary: null, hasNetwork },
    command: [findProgram(command[0] ?? '') ?? '', ...command.slice(1)],
    ...(uid === null ? {} : { uid, gid: uid }),
    cwd: '/',
    environment: { GIVEN: 'value' },
    stdio: ['ignore', 'pipe', 'pipe'],
    withParent: 'killed',
  });
  void pidInside(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}

test('a command in a sandbox sees only its own processes, variables and users', withBubblewrap, async (t) => {
  const folder = temporaryFolder(t, 'isolation-');
  const seen = await run(
    folder,
    true,
    'sh',
    '-c',
    'ls /proc | grep -c "^[0-9]"; env; id -u; ls /tmp /dev/shm',
  );
  const [processes, ...others] = seen.trim().split('\n');
  assert.ok(Number(processes) <= 3, seen);
  assert.deepEqual(
    others.filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line)),
    ['GIVEN=value', String(uid ?? process.getuid?.()), '/dev/shm:', '', '/tmp:'],
  );
});

test('bubblewrap itself, which has more rights, gets no variable of a run', withBubblewrap, async (t) => {
  const folder = temporaryFolder(t, 'isolation-');
  const { isolation } = await isolationOf(folder);
  const child = spawnInSandbox({
    isolation,
    sandbox: { writable: [], readable: [], temporary: null, hasNetwork: false },
    command: [findProgram('sleep') ?? '', '1000'],
    ...(uid === null ? {} : { uid, gid: uid }),
    cwd: '/',
    environment: { LOCPATH: '/nowhere', GCONV_PATH: '/nowhere', SECRET: 'of-the-run' },
    stdio: ['ignore', 'ignore', 'ignore'],
    withParent: 'killed',
  });
  const inside = await pidInside(child);
  const ended = once(child, 'exit');
  assert.equal(readFileSync(`/proc/${child.pid}/environ`, 'utf8'), '');
  assert.doesNotMatch(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'), /nowhere|of-the-run/);
  // Bubblewrap ends with it. What it has not let go yet would not end with bubblewrap.
  process.kill(inside, 'SIGKILL');
  await ended;
});

test('no value adds an option to a sandbox: nothing is started', withBubblewrap, async (t) => {
  const folder = temporaryFolder(t, 'isolation-');
  chmodSync(folder, 0o777);
  const { isolation } = await isolationOf(folder);
  const log = join(folder, 'log');
  const stop = { reason: null, throwIfStopped: () => undefined, onStop: () => () => undefined } as never;
  const injected = `planted\0--bind\0${folder}\0/tmp/injected`;
  const attempt = (
    environment: Record<string, string>,
    args: readonly string[] = [],
    places: Partial<Sandbox> = {},
  ) =>
    execute({
      program: findProgram('env') ?? '',
      args,
      cwd: '/',
      environment,
      uid,
      log,
      stop,
      abortSeconds: 1,
      sandbox: {
        isolation,
        places: { writable: [], readable: [], temporary: null, hasNetwork: false, ...places },
      },
    });
  const hostile: [Parameters<typeof attempt>, RegExp][] = [
    [[{ TF_VAR_size: injected }], /^TF_VAR_size: an environment variable cannot hold a zero character$/],
    [[{ [`NAME${injected}`]: 'x' }], /its name is empty, or contains = or a zero character$/],
    [[{ 'A=B': 'x' }], /^the environment variable "A" cannot be passed on/],
    [[{ '': 'x' }], /^the environment variable "" cannot be passed on/],
    [[{}, [injected]], /^an argument of \S+env contains a zero character$/],
    [[{}, [], { readable: [`/${injected}`] }], /contains a zero character$/],
  ];
  for (const [call, expected] of hostile) {
    const failure = await attempt(...call).then(
      () => null,
      (error: unknown) => error,
    );
    assert.ok(failure instanceof RunFailure);
    assert.match(failure.message, expected);
    assert.ok(!failure.message.includes('--bind'), failure.message);
  }
  assert.equal(readFileSync(log, 'utf8'), '');
  assert.equal((await attempt({ LINES: 'a\nb', EMPTY: '' })).exitCode, 0);
  assert.match(readFileSync(log, 'utf8'), /^LINES=a\nb\nEMPTY=$/m);
});

test('a command in a sandbox without a network reaches nothing', withBubblewrap, async (t) => {
  const folder = temporaryFolder(t, 'isolation-');
  const own = await run(folder, false, 'cat', '/proc/net/dev');
  assert.deepEqual(
    own.match(/^ *\S+:/gm)?.map((name) => name.trim()),
    ['lo:'],
  );
});

for (const shown of ['run', 'run/tree'])
  test(
    `what is left of a sandbox that shows ${shown}, whose outer process was killed, is found by its folder, and ended`,
    withBubblewrap,
    async (t) => {
      const folder = temporaryFolder(t, 'isolation-');
      const own = join(folder, shown);
      mkdirSync(own, { recursive: true });
      chmodSync(folder, 0o755);
      const { isolation } = await isolationOf(folder);
      const child = spawnInSandbox({
        isolation,
        sandbox: { writable: [own], readable: [], temporary: null, hasNetwork: true },
        command: [
          findProgram('sh') ?? '',
          '-c',
          "trap '' INT TERM; setsid sleep 1000 & echo began; wait; wait",
        ],
        ...(uid === null ? {} : { uid, gid: uid }),
        cwd: '/',
        environment: {},
        stdio: ['ignore', 'pipe', 'ignore'],
        withParent: 'signalled',
      });
      void pidInside(child);
      assert.ok(child.stdout);
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.equal(processesIn(join(folder, 'run')).length, 2);
      assert.deepEqual(processesIn(join(folder, 'ru')), []);
      await endProcessesIn(join(folder, 'run'));
      assert.deepEqual(processesIn(join(folder, 'run')), []);
    },
  );

const tracing = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, *args in [("ptrace", 0, 0, 0, 0), ("unshare", 0x10000000), ("mount", 0, 0, 0, 0, 0), ("keyctl", 0, 0),
                    ("process_vm_readv", os.getpid(), 0, 0, 0, 0, 0)]:
    ctypes.set_errno(0)
    number = {"keyctl": {"x86_64": 250, "aarch64": 219}[os.uname().machine]}.get(name)
    result = libc.syscall(number, *args) if number else getattr(libc, name)(*args)
    print(name, result, os.strerror(ctypes.get_errno()))
`;

test('a command in a sandbox cannot trace, mount, or make user namespaces', {
  skip: withBubblewrap.skip || (findProgram('python3') === null ? 'needs python3' : false),
}, async (t) => {
  const folder = temporaryFolder(t, 'isolation-');
  const refused = await run(folder, true, 'python3', '-c', tracing);
  assert.deepEqual(
    refused.trim().split('\n'),
    ['ptrace', 'unshare', 'mount', 'keyctl', 'process_vm_readv'].map(
      (name) => `${name} -1 Operation not permitted`,
    ),
  );
  // Without the filter the kernel itself allows some of them to an ordinary process.
  const allowed = execFileSync('python3', ['-c', tracing], { encoding: 'utf8' });
  assert.doesNotMatch(allowed, /^ptrace -1 Operation not permitted$/m);
});

test('the filter of system calls exists for both architectures and for no unknown one', () => {
  assert.ok((seccompFilter('x64')?.length ?? 0) > 400);
  assert.ok((seccompFilter('arm64')?.length ?? 0) > 400);
  assert.equal(seccompFilter('riscv64'), null);
});

test('an agent without bubblewrap says what confines its runs', async () => {
  const request = { slotUid: null, folder: tmpdir(), readable: [], hidden: [], isOffline: false };
  const { isolation, problem } = await findIsolation({ mode: 'off', ...request });
  assert.equal(isolation.bubblewrap, null);
  assert.match(problem ?? '', /ENVARIUM_ISOLATION is off/);
});
