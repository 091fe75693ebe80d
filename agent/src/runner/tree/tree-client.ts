/**
 * The runner's side of the tree server: the runner reads and writes a run's work folder only through it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { TreeReader } from '../../drivers/driver.ts';
import { ownProgram, programFiles, type Role } from '../../own-program.ts';
import { type Isolation, sandboxOf } from '../../processes/sandbox.ts';
import { statOf } from '../../processes/proc.ts';
import { signalProcess } from '../../processes/process-identity.ts';
import { channelDescriptor, spawnInSandbox } from '../../processes/spawn-in-sandbox.ts';
import { RunFailure } from '../../processes/failure.ts';
import { firstInside } from '../../processes/stop-command.ts';
import type { ProcessIdentity } from '../../spool/layout.ts';
import type { WorkFolderPaths } from '../../slots/work-folder.ts';
import type { TreeAnswer, TreeRequest } from './tree-server.ts';

const textLimit = 10_000_000;
const pieceBytes = 4 << 20;

export class TreeClient implements AsyncDisposable {
  readonly #request: TreeServerRequest;
  #server: TreeServer;

  constructor(request: TreeServerRequest) {
    this.#request = request;
    this.#server = new TreeServer(request);
  }

  /** Starts a new server process, after all processes of the slot were ended. */
  async restart(): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    this.#server = new TreeServer(this.#request);
  }

  /**
   * @returns a file's bytes; null if it does not exist
   * @throws an Error if it is not a file, is too large, or is outside the root
   */
  async read(root: string, name: string, maxBytes: number): Promise<Uint8Array | null> {
    const answer = await this.#server.request({
      operation: 'read',
      root,
      name,
      offset: 0,
      length: maxBytes,
      maxBytes,
    });
    return 'bytes' in answer ? answer.bytes : null;
  }

  /**
   * @returns at most `length` bytes of a file after an offset, empty at its end; null if it does not exist
   * @throws like `read`
   */
  async piece(root: string, name: string, offset: number, length: number): Promise<Uint8Array | null> {
    const answer = await this.#server.request({
      operation: 'read',
      root,
      name,
      offset,
      length,
      maxBytes: Number.MAX_SAFE_INTEGER,
    });
    return 'bytes' in answer ? answer.bytes : null;
  }

  /** Copies a file out of the work folder in pieces. @returns its size in bytes; null if it does not exist */
  async copyOut(root: string, name: string, to: string): Promise<number | null> {
    const target = await open(to, 'w', 0o600);
    try {
      for (let offset = 0; ; ) {
        const bytes = await this.piece(root, name, offset, pieceBytes);
        if (bytes === null) return null;
        if (bytes.length === 0) {
          await target.sync();
          return offset;
        }
        await target.write(bytes);
        offset += bytes.length;
      }
    } finally {
      await target.close();
    }
  }

  /** Writes a file, creating its parent folders; a link in its place is replaced, not followed. */
  async write(root: string, name: string, content: Uint8Array | string, mode = 0o600): Promise<void> {
    await this.#server.request({
      operation: 'write',
      root,
      name,
      content: typeof content === 'string' ? Buffer.from(content) : content,
      mode,
    });
  }

  /** A text that changes whenever a file's content may have changed; null if the file does not exist. */
  async stamp(root: string, name: string): Promise<string | null> {
    const answer = await this.#server.request({ operation: 'stamp', root, name });
    return 'stamp' in answer ? answer.stamp : null;
  }

  async list(root: string, name: string): Promise<string[]> {
    const answer = await this.#server.request({ operation: 'list', root, name });
    return 'names' in answer ? answer.names : [];
  }

  /** The kind of a path; `outside` if a symbolic link leads out of the root. */
  async kind(root: string, name: string): Promise<'folder' | 'file' | 'other' | 'outside' | 'none'> {
    const answer = await this.#server.request({ operation: 'kind', root, name });
    return 'kind' in answer ? answer.kind : 'none';
  }

  async remove(root: string, name: string): Promise<void> {
    await this.#server.request({ operation: 'remove', root, name });
  }

  /**
   * Makes a file's parent folders accessible to the slot's user again, whatever the run did to their modes.
   */
  async reopen(root: string, name: string): Promise<void> {
    await this.#server.request({ operation: 'reopen', root, name });
  }

  /** A driver's view of one folder. */
  reader(root: string): TreeReader {
    return {
      list: (folder) => this.list(root, folder),
      text: async (name) => {
        const bytes = await this.read(root, name, textLimit).catch((error: Error) => {
          throw new RunFailure(`a file of the code cannot be read: ${error.message}`);
        });
        return bytes === null ? null : new TextDecoder().decode(bytes);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** What the process that reads and writes may see. */
export interface TreeServerRequest {
  /** Uid that it works under; null: the runner's own. */
  readonly slotUid: number | null;
  /**
   * Confines it to the folders of the run; null: it sees what its uid may see. They exist, and stay: a sandbox
   * shows the folders that were there when it was made.
   */
  readonly sandbox: { readonly isolation: Isolation; readonly folders: WorkFolderPaths } | null;
}

/**
 * How long an answer may take: the longest is a piece of a file, or a folder with all its names. A server that
 * does not answer waits for a file system.
 */
const answerMilliseconds = 60_000;
/** How often a server that has not answered is checked: code of a run that shares its uid can stop it. */
const checkMilliseconds = 500;

/** The process that reads and writes for one client. */
class TreeServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #inside: Promise<ProcessIdentity | null>;
  readonly #waiting: { resolve(answer: TreeAnswer): void; reject(error: Error): void }[] = [];
  readonly #ready: Promise<void>;
  #isGone = false;

  constructor(request: TreeServerRequest) {
    this.#child = startServer(request);
    this.#inside = request.sandbox === null ? Promise.resolve(null) : firstInside(this.#child);
    this.#child.on('message', (answer: TreeAnswer) => this.#waiting.shift()?.resolve(answer));
    this.#child.once('error', (error) => this.#fail(error));
    this.#child.once('exit', () =>
      this.#fail(new Error('the process that reads and writes the work folder has ended')),
    );
    this.#ready = this.#expect().then(() => undefined);
    // The first request reports a failure to start.
    this.#ready.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isGone) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    await this.#kill();
    await gone;
  }

  async request(request: TreeRequest): Promise<Exclude<TreeAnswer, { error: string }>> {
    const timer = setTimeout(() => this.#giveUp('does not answer'), answerMilliseconds).unref();
    const check = setInterval(() => void this.#endIfStopped(), checkMilliseconds).unref();
    const answer = await this.#answerTo(request).finally(() => {
      clearTimeout(timer);
      clearInterval(check);
    });
    if ('error' in answer) throw Object.assign(new Error(answer.error), { code: answer.code });
    return answer;
  }

  async #answerTo(request: TreeRequest): Promise<TreeAnswer> {
    await this.#ready;
    const answered = this.#expect();
    this.#child.send(request, (error) => error && this.#fail(error));
    return answered;
  }

  #expect(): Promise<TreeAnswer> {
    if (this.#isGone)
      return Promise.reject(new Error('the process that reads and writes the work folder has ended'));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** With the first process of its sandbox; bubblewrap's own ends after that one. */
  async #kill(): Promise<void> {
    const inside = await this.#inside;
    if (inside === null || !signalProcess(inside, 'SIGKILL')) this.#child.kill('SIGKILL');
  }

  async #endIfStopped(): Promise<void> {
    const { pid = 0 } = (await this.#inside) ?? this.#child;
    // `t`: by a debugger.
    if (['T', 't'].includes(statOf(pid)?.state ?? '')) this.#giveUp('was stopped by a signal');
  }

  #giveUp(reason: string): void {
    this.#fail(new Error(`the process that reads and writes the work folder ${reason}, and was ended`));
    void this.#kill();
  }

  #fail(error: Error): void {
    this.#isGone = true;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
  }
}

/** Root keeps the rights to load the program until it gives up all of them; nothing of the run is alive in there. */
function startServer({ slotUid, sandbox }: TreeServerRequest): ChildProcess {
  const { NODE_COMPILE_CACHE: cache } = process.env;
  // Node tries forever to make the folder of a cache where it may not.
  const environment: Record<string, string> =
    cache !== undefined && existsSync(cache) ? { NODE_COMPILE_CACHE: cache } : {};
  const command = [
    process.execPath,
    '--disable-sigusr1',
    ownProgram,
    'tree-server' satisfies Role,
    String(slotUid ?? 0),
  ];
  const options = { serialization: 'advanced', cwd: '/' } as const;
  if (sandbox === null) {
    const [program = '', ...args] = command;
    return spawn(program, args, {
      ...options,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: environment,
      detached: true,
    });
  }
  const { isolation, folders } = sandbox;
  const places = sandboxOf(folders, isolation, { readable: programFiles(), slotUid: null });
  return spawnInSandbox({
    ...options,
    isolation,
    // The cache is the agent's: a slot's uid cannot write there, and a run is not in this sandbox.
    sandbox: {
      ...places,
      temporary: null,
      writable: [...places.writable, ...Object.values(environment)],
      hasNetwork: false,
    },
    command,
    environment: {
      ...environment,
      NODE_CHANNEL_FD: String(channelDescriptor),
      NODE_CHANNEL_SERIALIZATION_MODE: options.serialization,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    withParent: 'killed',
    isRoot: slotUid !== null,
  });
}
