/**
 * The gate: how a program of a run that connects over ssh by itself (the tool's git while it loads modules, git-lfs) does so without
 * ever seeing a key. It finds, as `GIT_SSH`, a small program that hands the call through a socket to the runner; the runner looks at
 * host and command and speaks ssh with the agent's rights. So the run needs no account in the machine's list of users either, which
 * ssh would ask for.
 */
import type { ChildProcess } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import type { Job } from '#protocol/messages.ts';
import { readRepository } from '#protocol/source-guards.ts';
import { isPath, type SshAddress, sshAddressOf, sshHost } from '#protocol/ssh-address.ts';
import { scanCommand, type SshPrograms, type SshService, keysFor, startSsh } from './ssh.ts';

export interface SshGate extends AsyncDisposable {
  /** For the programs that may use it. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a sandbox has to let them see. */
  readonly readable: readonly string[];
}

export interface GateRequest {
  readonly source: Job['source'];
  readonly programs: SshPrograms;
  /** Absolute path of a folder that does not exist yet, in a place that the slot can reach. */
  readonly folder: string;
  /** A folder that every slot can reach, for a copy of Node where the agent's own cannot be reached. */
  readonly sharedFolder: string;
  /** Who may use it; null: who the runner is. */
  readonly slotUid: number | null;
}

const frame = { output: 1, complaint: 2, end: 3 } as const;
const longestCall = 16_384;

/** The slot's side, a program of its own: it sends its arguments, then its input, and prints what comes back in frames. */
const client = `'use strict';
process.chdir(__dirname);
const socket = require('node:net').connect({ path: './socket', allowHalfOpen: true });
let rest = Buffer.alloc(0);
let code = 255;
const fail = (text) => { process.stderr.write('ssh: ' + text + '\\n'); process.exit(255); };
socket.on('error', (error) => fail('the agent cannot be reached: ' + error.message));
socket.on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
    const kind = rest[0];
    const content = rest.subarray(5, 5 + rest.readUInt32BE(1));
    rest = rest.subarray(5 + content.length);
    if (kind === ${frame.end}) code = content[0];
    else if (!(kind === ${frame.output} ? process.stdout : process.stderr).write(content)) {
      socket.pause();
      process.stdout.once('drain', () => socket.resume());
    }
  }
});
// Whatever is still on its way out goes first.
socket.on('end', () => process.stdout.write('', () => process.exit(code)));
process.stdout.on('error', () => process.exit(255));
socket.write(JSON.stringify(process.argv.slice(2)) + '\\n');
process.stdin.pipe(socket);
`;

/**
 * Opens the gate.
 * @throws an Error that a person can read where the place cannot hold the program
 */
export async function openSshGate(request: GateRequest): Promise<SshGate> {
  const { folder, slotUid } = request;
  const node = reachableNode(request);
  if (/\s/.test(node) || node.length > 200)
    throw new Error(`ssh for modules and LFS: ${node} has blanks or is too long; choose another ENVARIUM_WORK_DIR`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o711 });
  chmodSync(folder, 0o711);
  const program = join(folder, 'ssh');
  writeFileSync(program, `#!${node}\n${client}`);
  chmodSync(program, 0o755);
  const children = new Set<ChildProcess>();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    void serve(request, socket, children);
  });
  await listen(server, folder, slotUid);
  return {
    environment: { GIT_SSH: program, GIT_SSH_VARIANT: 'ssh' },
    readable: [folder, node],
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const child of children) child.kill('SIGTERM');
      for (const socket of sockets) socket.destroy();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// By way of the open folder: the whole path may be longer than a socket's address can be.
async function listen(server: Server, folder: string, slotUid: number | null): Promise<void> {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const path = `/proc/self/fd/${descriptor}/socket`;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    chmodSync(path, 0o600);
    if (slotUid !== null) chownSync(path, slotUid, slotUid);
  } finally {
    closeSync(descriptor);
  }
}

/** The agent's Node where the slot can start it, else a copy of it. */
function reachableNode({ slotUid, sharedFolder }: GateRequest): string {
  const own = process.execPath;
  if (slotUid === null || isReachable(own)) return own;
  const copy = join(sharedFolder, `.node-${process.version}`);
  if (!existsSync(copy)) {
    const fresh = `${copy}.${process.pid}`;
    copyFileSync(own, fresh, constants.COPYFILE_FICLONE);
    chmodSync(fresh, 0o755);
    renameSync(fresh, copy);
  }
  return copy;
}

function isReachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) break;
  }
  return (statSync(path).mode & 0o005) === 0o005;
}

async function serve(request: GateRequest, socket: Socket, children: Set<ChildProcess>): Promise<void> {
  socket.on('error', () => socket.destroy());
  const end = (code: number, complaint = '') => {
    if (socket.writableEnded) return;
    if (complaint !== '') socket.write(framed(frame.complaint, Buffer.from(`${complaint}\n`)));
    socket.end(framed(frame.end, Buffer.from([code])));
    socket.resume();
  };
  try {
    const call = readCall(await readFirstLine(socket));
    const child = startSsh(request.programs, { ...call, ...allowed(request.source, call.address) }, 'pipe');
    children.add(child);
    let complaints = '';
    child.once('error', (error) => end(255, `ssh: ${error.message}`));
    child.stderr?.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(0, 10_000)));
    const output = framing(frame.output);
    const isSent = new Promise((resolve) => output.once('close', resolve));
    child.stdout?.pipe(output).pipe(socket, { end: false });
    child.stdin?.on('error', () => {});
    if (child.stdin) socket.pipe(child.stdin);
    socket.once('close', () => child.kill('SIGTERM'));
    child.once('close', (code) => {
      children.delete(child);
      // The last of the output may still wait for a slow reader.
      void isSent.then(() =>
        end(code ?? 255, [complaints.trim(), hintFor(complaints, call.address)].filter((text) => text !== '').join('\n')),
      );
    });
    socket.resume();
  } catch (error) {
    end(255, `ssh: ${(error as Error).message}`);
  }
}

/** @throws an Error where the host gets no key of the environment */
function allowed(source: Job['source'], address: SshAddress): { keys: readonly string[]; knownHosts: string } {
  const keys = keysFor(source, address);
  const own = readRepository(source.repository, source);
  if (keys.length === 0 && 'kind' in own && own.kind === 'ssh' && (source.ssh?.keys.length ?? 0) > 0)
    throw new Error(`the environment's keys are for ${own.host}, and not shown to ${sshHost(address)}`);
  return { keys, knownHosts: source.ssh?.knownHosts ?? '' };
}

function hintFor(complaints: string, address: SshAddress): string {
  return /host key is known for/.test(complaints)
    ? `Add the line that "${scanCommand(address)}" prints to ENVARIUM_GIT_KNOWN_HOSTS_FILE, after comparing it with what the host's operator publishes.`
    : '';
}

/** Reads what git and git-lfs call ssh with. @throws an Error for anything else */
function readCall(line: string): { address: SshAddress; service: SshService } {
  const words = JSON.parse(line) as unknown;
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) throw new Error('the call cannot be read');
  const plain: string[] = [];
  let port = 22;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] as string;
    if (word === '-p') port = Number(words[++index]);
    else if (word === '-o') index += 1;
    else if (!word.startsWith('-') || plain.length > 0) plain.push(word);
  }
  const [destination = '', ...command] = plain;
  const at = destination.lastIndexOf('@');
  if (at < 1) throw new Error(`${destination} names no user: write ssh://git@host/path`);
  const asked = readCommand(command.join(' '));
  const address = sshAddressOf(destination.slice(0, at), destination.slice(at + 1), port, asked.path);
  if ('refusal' in address) throw new Error(`the address ${address.refusal}`);
  return { address, service: asked.service };
}

function readCommand(command: string): { service: SshService; path: string } {
  const [, word = '', quoted, plain] = /^(git[- ]upload-pack|git-lfs-authenticate) (?:'([^']*)'|(\S+))( download)?$/.exec(command) ?? [];
  const path = quoted ?? plain ?? '';
  if (word === '' || !isPath(path)) throw new Error('only reading a repository is allowed');
  return { service: word === 'git-lfs-authenticate' ? word : 'git-upload-pack', path };
}

/** Takes the first line off a socket and leaves it paused. */
function readFirstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf(10);
      if (end < 0 && bytes.length < longestCall) return;
      socket.off('data', onData);
      socket.pause();
      if (end < 0) return reject(new Error('the call is too long'));
      socket.unshift(bytes.subarray(end + 1));
      resolve(bytes.toString('utf8', 0, end));
    };
    socket.on('data', onData);
    socket.once('end', () => reject(new Error('the call ended early')));
  });
}

function framed(kind: number, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = kind;
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

function framing(kind: number): Transform {
  return new Transform({ transform: (chunk: Buffer, _, done) => done(null, framed(kind, chunk)) });
}

/** Whether ssh is there at all. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
