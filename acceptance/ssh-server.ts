/**
 * A real sshd of the current user on a free port, which lets one key in and gives it git's own shell: reading
 * repositories.
 */
import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../tools/suite/free-port.ts';
import { findProgram } from './programs.ts';

const run = promisify(execFile);
const startMilliseconds = 10_000;

export interface SshServer extends AsyncDisposable {
  /** `ssh://user@127.0.0.1:port`, to be followed by an absolute path. */
  readonly address: string;
  /** The private key that it lets in. */
  readonly key: string;
  /** Its line in a `known_hosts` file. */
  readonly knownHosts: string;
}

/** Why no server can be started here, or false. */
export async function missingSshServer(): Promise<string | false> {
  if ((await findProgram('ssh-keygen')) === null) return 'ssh-keygen is missing (package "openssh-client")';
  if ((await sshd()) === null) return 'sshd is missing (package "openssh-server")';
  try {
    return /\/(nologin|false)$/.test(userInfo().shell ?? '')
      ? 'the user of the tests may not sign in'
      : false;
  } catch {
    return 'the user of the tests has no account';
  }
}

async function sshd(): Promise<string | null> {
  const usual = '/usr/sbin/sshd';
  const isThere = await readFile(usual).then(
    () => true,
    () => false,
  );
  return isThere ? usual : findProgram('sshd');
}

async function makeKey(path: string): Promise<{ key: string; publicKey: string }> {
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'acceptance', '-f', path]);
  return { key: await readFile(path, 'utf8'), publicKey: (await readFile(`${path}.pub`, 'utf8')).trim() };
}

/** Starts the server; it ends, and what it wrote is removed, when it is disposed. */
export async function startSshServer(): Promise<SshServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sshd-'));
  const host = await makeKey(join(folder, 'host'));
  const { key, publicKey } = await makeKey(join(folder, 'client'));
  const port = await freePort();
  const shell = join(folder, 'shell');
  await writeFile(join(folder, 'gitconfig'), '[safe]\n\tdirectory = *\n');
  await writeFile(
    shell,
    `#!/bin/sh\nexport GIT_CONFIG_GLOBAL='${folder}/gitconfig'\nexec git shell -c "$SSH_ORIGINAL_COMMAND"\n`,
  );
  await chmod(shell, 0o755);
  await writeFile(join(folder, 'authorized'), `restrict,command="${shell}" ${publicKey}\n`, { mode: 0o600 });
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${folder}/host`,
    `AuthorizedKeysFile ${folder}/authorized`,
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'PidFile none',
    'AcceptEnv GIT_PROTOCOL',
    'LogLevel ERROR',
  ];
  await writeFile(join(folder, 'config'), `${settings.join('\n')}\n`);
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const server = spawn((await sshd()) ?? 'sshd', ['-D', '-e', '-f', join(folder, 'config')], {
    stdio: 'ignore',
  });
  for (const deadline = Date.now() + startMilliseconds; !(await isOpen(port)); await delay(20))
    if (server.exitCode !== null || Date.now() > deadline) throw new Error('sshd did not start');
  return {
    address: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    key,
    knownHosts: `[127.0.0.1]:${port} ${host.publicKey}\n`,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      if (server.exitCode === null && server.kill('SIGTERM')) await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
