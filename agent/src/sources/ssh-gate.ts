/**
 * The gate: lets programs of a run connect over ssh (the tool's git while it loads modules, git-lfs) without
 * access to a key. Their `GIT_SSH` is a small program that passes the call through a socket to the runner;
 * the runner checks host and command and connects with the agent's rights. The run therefore does not need an
 * account on the machine either, which ssh would require.
 */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { keysFor } from '#guards/git/repository-access.ts';
import { type SshPrograms, type SshService, scanCommand, startSsh } from '#guards/git/ssh.ts';
import { readRepository } from '#guards/source-guards.ts';
import { isPath, type SshAddress, sshAddressOf, sshHost } from '#guards/ssh-address.ts';
import type { Job } from '#protocol/messages/job.ts';
import { frame, framed, framing, placeGateProgram } from './ssh-gate-program.ts';

export interface SshGate extends AsyncDisposable {
  /** For the programs that may use it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Paths that a sandbox must make visible to them. */
  readonly readable: readonly string[];
}

export interface GateRequest {
  readonly source: Job['source'];
  readonly programs: SshPrograms;
  /** Absolute path of a folder that does not exist yet, in a place that the slot can reach. */
  readonly folder: string;
  /** A folder that every slot can reach, for a copy of Node if the agent's own is not reachable. */
  readonly sharedFolder: string;
  /** The uid that may use it; null: the runner's. */
  readonly slotUid: number | null;
}

const longestCall = 16_384;

/**
 * Opens the gate.
 * @throws an Error with a message for people if the folder cannot hold the program
 */
export async function openSshGate(request: GateRequest): Promise<SshGate> {
  const { folder, slotUid } = request;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o711 });
  chmodSync(folder, 0o711);
  const { program, node } = placeGateProgram(folder, request.sharedFolder, slotUid);
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

// Uses the open folder, because the full path may exceed the length of a socket's address.
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
    child.stderr?.on(
      'data',
      (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(0, 10_000)),
    );
    const output = framing(frame.output);
    const isSent = new Promise((resolve) => output.once('close', resolve));
    child.stdout?.pipe(output).pipe(socket, { end: false });
    child.stdin?.on('error', () => {});
    if (child.stdin) socket.pipe(child.stdin);
    socket.once('close', () => child.kill('SIGTERM'));
    child.once('close', (code) => {
      children.delete(child);
      // The last of the output may still be waiting for a slow reader.
      void isSent.then(() =>
        end(
          code ?? 255,
          [complaints.trim(), hintFor(complaints, call.address)].filter((text) => text !== '').join('\n'),
        ),
      );
    });
    socket.resume();
  } catch (error) {
    end(255, `ssh: ${(error as Error).message}`);
  }
}

/** @throws an Error if the environment's keys must not be used for the host */
function allowed(
  source: Job['source'],
  address: SshAddress,
): { keys: readonly string[]; knownHosts: string } {
  const keys = keysFor(source, address);
  const own = readRepository(source.repository, source);
  if (keys.length === 0 && 'kind' in own && own.kind === 'ssh' && (source.ssh?.keys.length ?? 0) > 0)
    throw new Error(`the environment's keys are for ${own.host}, and not used for ${sshHost(address)}`);
  return { keys, knownHosts: source.ssh?.knownHosts ?? '' };
}

function hintFor(complaints: string, address: SshAddress): string {
  return /host key is known for/.test(complaints)
    ? `Add the line that "${scanCommand(address)}" prints to ENVARIUM_GIT_KNOWN_HOSTS_FILE, after comparing it with what the host's operator publishes.`
    : '';
}

/** Reads the first line from a socket and leaves it paused. */
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

/** Parses the arguments of git's and git-lfs's ssh call. @throws an Error for anything else */
function readCall(line: string): { address: SshAddress; service: SshService } {
  const words = JSON.parse(line) as unknown;
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
    throw new Error('the call cannot be read');
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
  if (at < 1) throw new Error(`${destination} has no user: write ssh://git@host/path`);
  const request = readCommand(command.join(' '));
  const address = sshAddressOf(destination.slice(0, at), destination.slice(at + 1), port, request.path);
  if ('refusal' in address) throw new Error(`the address ${address.refusal}`);
  return { address, service: request.service };
}

function readCommand(command: string): { service: SshService; path: string } {
  const [, word = '', quoted, plain] =
    /^(git[- ]upload-pack|git-lfs-authenticate) (?:'([^']*)'|(\S+))( download)?$/.exec(command) ?? [];
  const path = quoted ?? plain ?? '';
  if (word === '' || !isPath(path)) throw new Error('only reading a repository is allowed');
  return { service: word === 'git-lfs-authenticate' ? word : 'git-upload-pack', path };
}
