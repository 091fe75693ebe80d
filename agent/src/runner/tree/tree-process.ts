/** One process that runs the tree server, as its parent sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ownProgram, programFiles, type Role } from '../../own-program.ts';
import { type Isolation, readerSandbox } from '../../processes/sandbox.ts';
import { statOf } from '../../processes/proc.ts';
import { signalProcess } from '../../processes/process-identity.ts';
import { channelDescriptor, spawnInSandbox } from '../../processes/spawn-in-sandbox.ts';
import { firstInside } from '../../processes/stop-command.ts';
import type { ProcessIdentity } from '../../spool/layout.ts';
import type { WorkFolderPaths } from '../../slots/work-folder.ts';
import type { TreeAnswer, TreeRequest } from './tree-server.ts';

/** What the process that reads and writes may see. */
export interface TreeProcessRequest {
  /** Uid that it works under; null: the runner's own. */
  readonly slotUid: number | null;
  /** Confines it to the work folder of the run, which exists; null: it sees what its uid may see. */
  readonly sandbox: { readonly isolation: Isolation; readonly folders: WorkFolderPaths } | null;
}

/**
 * How long an answer may take: the longest is a piece of a file, or a folder with all its names. A server that
 * does not answer waits for a file system.
 */
const answerMilliseconds = 60_000;
/** How often a server that has not answered is checked: code of a run that shares its uid can stop it. */
const checkMilliseconds = 500;

/** The process that reads and writes, for one client at a time. */
export class TreeProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #inside: Promise<ProcessIdentity | null>;
  readonly #waiting: { resolve(answer: TreeAnswer): void; reject(error: Error): void }[] = [];
  readonly #ready: Promise<void>;
  #isGone = false;

  constructor(request: TreeProcessRequest) {
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

  /** Whether it still answers. */
  async answers(): Promise<boolean> {
    return await this.request({ operation: 'kind', root: '/', name: '' }).then(
      () => true,
      () => false,
    );
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
function startServer({ slotUid, sandbox }: TreeProcessRequest): ChildProcess {
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
  return spawnInSandbox({
    ...options,
    isolation,
    // The cache is the agent's: a slot's uid cannot write there, and a run is not in this sandbox.
    sandbox: readerSandbox(folders, isolation, {
      readable: programFiles(),
      writable: Object.values(environment),
    }),
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
