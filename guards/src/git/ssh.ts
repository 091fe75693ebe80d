/**
 * ssh as the agent runs it for git: with the agent's rights, so that a run can never read a key; with the
 * keys and known hosts of one job, without the machine's own configuration, and without prompts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, usualPath } from '../find-on-path.ts';
import { readPrivateKey } from '../read-private-key.ts';
import { isPath, type SshAddress } from '../ssh-address.ts';

/** The only two remote commands that reading needs. */
export type SshService = 'git-upload-pack' | 'git-lfs-authenticate';

export interface SshCall {
  readonly address: SshAddress;
  readonly service: SshService;
  readonly keys: readonly string[];
  readonly knownHosts: string;
  /** IP address to connect to; absent: the name is resolved. */
  readonly connectTo?: string | undefined;
}

export interface SshPrograms {
  /** Absolute path of ssh. */
  readonly ssh: string;
  /** The program that starts a child so that it ends with its parent, if any. */
  readonly launcher: readonly string[];
  /** A folder of the agent, mode 0700: it contains keys during a call. */
  readonly folder: string;
}

const connectSeconds = 20;

/** The programs that start ssh on this machine. @param folder of the agent, mode 0700: it contains keys during a call */
export function sshProgramsIn(folder: string): SshPrograms {
  const setpriv = findOnPath('setpriv', usualPath);
  return {
    ssh: findOnPath('ssh', usualPath) ?? '/usr/bin/ssh',
    launcher: setpriv === null ? [] : [setpriv, '--pdeathsig', 'TERM', '--'],
    folder,
  };
}

/**
 * Starts ssh; standard input and output are the service's.
 * @param complaints where standard error goes: a descriptor, or a pipe
 * @param timeoutSeconds until the other side must have answered
 * @throws an Error that names sshKeys if a key is unusable
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
    const pinned = pinnedTo(call);
    const { user, hostname, port } = call.address;
    const command = [
      programs.ssh,
      '-F',
      'none',
      '-T',
      ...options,
      ...pinned,
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
      // Version 2 of the protocol serves any commit by its id, if the other side accepts the variable.
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

/** The host's key is looked up by its name, whatever address it has. */
function pinnedTo({ address: { hostname, port }, connectTo }: SshCall): string[] {
  if (connectTo === undefined) return [];
  const alias = port === 22 ? hostname : `[${hostname}]:${port}`;
  return ['-o', `HostName=${connectTo}`, '-o', `HostKeyAlias=${alias}`];
}

/** Appends the error output of ssh to a file. */
export function startSshWithLog(programs: SshPrograms, call: SshCall, log: string): ChildProcess {
  const descriptor = openSync(log, 'a', 0o600);
  try {
    return startSsh(programs, call, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Ways for an operator to obtain the public key of a host. */
export function scanCommand(address: SshAddress): string {
  return `ssh-keyscan ${address.port === 22 ? '' : `-p ${address.port} `}${address.hostname}`;
}

function usableKey(value: string): string {
  const reading = readPrivateKey(value);
  if ('refusal' in reading) throw new Error(`sshKeys: one of the keys ${reading.refusal}`);
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

// ssh reads an option's value as a line of its configuration: blanks separate, % expands.
function quoted(path: string): string {
  return `"${path.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&')}"`;
}

// The other side passes this to a shell; the address was parsed to contain nothing that a shell
// interprets.
function remoteCommand({ address, service }: SshCall): string {
  if (!isPath(address.path)) throw new Error('the path of the ssh address is not valid');
  return `${service} '${address.path}'${service === 'git-lfs-authenticate' ? ' download' : ''}`;
}
