/**
 * For tests: a real sshd on a free port of this machine, run by the current user, that accepts one key for
 * git's own shell: reading repositories, and commands that the test adds.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../tools/suite/free-port.ts';

const program = '/usr/sbin/sshd';
const separationFolder = '/run/sshd';
const startMilliseconds = 10_000;

/** Why no server can be started here, or false. */
export const missingSshServer: string | false = reasonAgainst();

function reasonAgainst(): string | false {
  if (!existsSync(program) || !existsSync('/usr/bin/ssh'))
    return 'needs sshd and ssh (packages "openssh-server", "openssh-client")';
  try {
    return /\/(nologin|false)$/.test(userInfo().shell ?? '') ? 'needs a user who may sign in' : false;
  } catch {
    return 'needs a user with an account';
  }
}

export interface SshServer extends AsyncDisposable {
  readonly port: number;
  readonly user: string;
  /** `ssh://user@127.0.0.1:port`, to be followed by an absolute path. */
  readonly address: string;
  /** The private key that it accepts. */
  readonly key: string;
  /** Its line in a `known_hosts` file. */
  readonly knownHosts: string;
  /** The requested commands, in order. */
  commands(): string[];
}

export interface SshServerOptions {
  /** Shell commands by the first word of the request; everything else goes to git's shell. */
  readonly commands?: Readonly<Record<string, string>>;
  /** False: it ignores git's request for version 2 of its protocol. */
  readonly acceptsProtocol?: boolean;
}

/** A new key pair. @param passphrase empty: none */
export function makeSshKey(passphrase = ''): { privateKey: string; publicKey: string } {
  const folder = mkdtempSync(join(tmpdir(), 'ssh-key-'));
  try {
    execFileSync('ssh-keygen', [
      '-q',
      '-t',
      'ed25519',
      '-N',
      passphrase,
      '-C',
      'test',
      '-f',
      join(folder, 'key'),
    ]);
    return {
      privateKey: readFileSync(join(folder, 'key'), 'utf8'),
      publicKey: readFileSync(join(folder, 'key.pub'), 'utf8').trim(),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts the server; disposal ends it and removes its files. */
export async function startSshServer(options: SshServerOptions = {}): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sshd-'));
  const host = makeSshKey();
  const client = makeSshKey();
  const port = await freePort();
  const log = join(folder, 'commands.log');
  const shell = join(folder, 'shell');
  writeFileSync(join(folder, 'gitconfig'), '[safe]\n\tdirectory = *\n');
  writeFileSync(join(folder, 'host'), host.privateKey, { mode: 0o600 });
  writeFileSync(shell, shellScript(folder, log, options.commands ?? {}));
  chmodSync(shell, 0o755);
  writeFileSync(join(folder, 'authorized'), `restrict,command="${shell}" ${client.publicKey}\n`, {
    mode: 0o600,
  });
  writeFileSync(join(folder, 'config'), configuration(folder, port, options.acceptsProtocol ?? true));
  if (process.getuid?.() === 0) mkdirSync(separationFolder, { recursive: true, mode: 0o755 });
  const server = spawn(program, ['-D', '-e', '-f', join(folder, 'config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  server.stderr.on('data', (text: Buffer) => (complaints += text.toString()));
  await untilOpen(server, port, () => complaints);
  const user = userInfo().username;
  return {
    port,
    user,
    address: `ssh://${user}@127.0.0.1:${port}`,
    key: client.privateKey,
    knownHosts: `[127.0.0.1]:${port} ${host.publicKey}\n`,
    commands: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      if (server.exitCode === null && server.kill('SIGTERM')) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function shellScript(folder: string, log: string, commands: Readonly<Record<string, string>>): string {
  const cases = Object.entries(commands).map(([word, command]) => `  "${word} "*) ${command} ;;`);
  return [
    '#!/bin/sh',
    `printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >> '${log}'`,
    `export GIT_CONFIG_GLOBAL='${join(folder, 'gitconfig')}'`,
    'case "$SSH_ORIGINAL_COMMAND" in',
    ...cases,
    '  *) exec git shell -c "$SSH_ORIGINAL_COMMAND" ;;',
    'esac',
    '',
  ].join('\n');
}

function configuration(folder: string, port: number, acceptsProtocol: boolean): string {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'PidFile none',
    ...(acceptsProtocol ? ['AcceptEnv GIT_PROTOCOL'] : []),
    'MaxStartups 100',
    'LogLevel ERROR',
    '',
  ].join('\n');
}

async function untilOpen(server: ChildProcess, port: number, complaints: () => string): Promise<void> {
  for (const deadline = Date.now() + startMilliseconds; ; await delay(20)) {
    if (server.exitCode !== null || Date.now() > deadline)
      throw new Error(`sshd did not start: ${complaints()}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', () => resolve(false));
      // A connection that stays open would keep a process of the server for its two minutes of grace.
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
    });
    if (isOpen) return;
  }
}
