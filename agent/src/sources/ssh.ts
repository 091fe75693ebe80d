/**
 * ssh as the agent runs it for git: with the rights of the agent, so that no key is ever readable to a run;
 * with the keys and known hosts of one job and nothing of the machine's own configuration; without a question
 * to anybody.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import { readPrivateKey } from '#guards/read-private-key.ts';
import { readRepository } from '#guards/source-guards.ts';
import { isPath, type SshAddress, sshHost } from '#guards/ssh-address.ts';

type Source = Job['source'];

/** What the other side is asked to run: the only two commands that reading needs. */
export type SshService = 'git-upload-pack' | 'git-lfs-authenticate';

export interface SshCall {
  readonly address: SshAddress;
  readonly service: SshService;
  readonly keys: readonly string[];
  readonly knownHosts: string;
}

export interface SshPrograms {
  /** Absolute path of ssh. */
  readonly ssh: string;
  /** What a child is started through, so that it ends with its parent; perhaps nothing. */
  readonly launcher: readonly string[];
  /** A folder of the agent's own, mode 0700: keys lie below it while a call lasts. */
  readonly folder: string;
}

const connectSeconds = 20;

/**
 * The keys that may be shown to a host. Where the repository itself is read over ssh they belong to its host;
 * where it is not, they can only have been given for submodules and modules.
 */
export function keysFor(source: Source, address: SshAddress): readonly string[] {
  const repository = readRepository(source.repository, source);
  const isOther = 'kind' in repository && repository.kind === 'ssh' && repository.host !== sshHost(address);
  return isOther ? [] : (source.ssh?.keys ?? []);
}

/**
 * Starts ssh; standard input and output are the service's.
 * @param complaints where standard error goes: a descriptor, or a pipe
 * @param timeoutSeconds until the other side has to have answered
 * @throws an Error that names sshKeys where a key cannot be used at all
 */
export function startSsh(
  programs: SshPrograms,
  call: SshCall,
  complaints: number | 'pipe',
  timeoutSeconds = connectSeconds,
): ChildProcess {
  const keys = call.keys.map(usableKey);
  const folder = mkdtempSync(join(programs.folder, 'ssh-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const place = (name: string, content: string) => {
      const path = join(folder, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    };
    const options = sshOptions(
      place('known_hosts', call.knownHosts),
      keys.map((key, index) => place(`key-${index}`, key)),
      timeoutSeconds,
    );
    const { user, hostname, port } = call.address;
    const command = [
      programs.ssh,
      '-F',
      'none',
      '-T',
      ...options,
      '-p',
      String(port),
      '-l',
      user,
      '--',
      hostname,
      remoteCommand(call),
    ];
    const [program = programs.ssh, ...args] = [...programs.launcher, ...command];
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', complaints],
      // Version 2 of the protocol serves any commit by its id, where the other side lets the variable in.
      env: { PATH: '/usr/bin:/bin', LANG: 'C', GIT_PROTOCOL: 'version=2' },
    });
    child.once('exit', remove);
    child.once('error', remove);
    return child;
  } catch (error) {
    remove();
    throw error;
  }
}

/** Appends what ssh complains about to a file. */
export function startSshWithLog(programs: SshPrograms, call: SshCall, log: string): ChildProcess {
  const descriptor = openSync(log, 'a', 0o600);
  try {
    return startSsh(programs, call, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** How an operator learns the public key of a host. */
export function scanCommand(address: SshAddress): string {
  return `ssh-keyscan ${address.port === 22 ? '' : `-p ${address.port} `}${address.hostname}`;
}

function usableKey(value: string): string {
  const reading = readPrivateKey(value);
  if ('refusal' in reading) throw new Error(`sshKeys: a key of the environment ${reading.refusal}`);
  return reading.key;
}

function sshOptions(knownHosts: string, keys: readonly string[], timeoutSeconds: number): string[] {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${quoted(knownHosts)}`,
    'GlobalKnownHostsFile=/dev/null',
    'UpdateHostKeys=no',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'AddKeysToAgent=no',
    'PreferredAuthentications=publickey',
    `PubkeyAuthentication=${keys.length > 0 ? 'yes' : 'no'}`,
    ...(keys.length > 0 ? keys.map((key) => `IdentityFile=${quoted(key)}`) : ['IdentityFile=none']),
    'ForwardAgent=no',
    'ForwardX11=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'ProxyCommand=none',
    'ControlMaster=no',
    'ControlPath=none',
    'CanonicalizeHostname=no',
    `ConnectTimeout=${timeoutSeconds}`,
    'ServerAliveInterval=15',
    'ServerAliveCountMax=2',
    'SendEnv=GIT_PROTOCOL',
    'LogLevel=ERROR',
  ];
  return options.flatMap((option) => ['-o', option]);
}

// ssh reads an option's value as a line of its configuration: blanks divide, % expands.
function quoted(path: string): string {
  return `"${path.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&')}"`;
}

// The other side gives this to a shell; the address was read with nothing in it that a shell sees.
function remoteCommand({ address, service }: SshCall): string {
  if (!isPath(address.path)) throw new Error('the path of an ssh address is not what it was read as');
  return `${service} '${address.path}'${service === 'git-lfs-authenticate' ? ' download' : ''}`;
}
