/** One process that runs the tree server, as its parent sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { ownProgram, type ProgramRole, programFiles } from '../../own/own-program.ts';
import { type ProcessIdentity, signalProcess, statOf } from '../../processes/proc.ts';
import { requireProgram } from '../../processes/programs.ts';
import { type Isolation, readerCapabilities, readerSandbox } from '../../processes/sandbox.ts';
import { channelDescriptor, firstInside, spawnInSandbox } from '../../processes/spawn-in-sandbox.ts';
import type { TreeAnswer, TreeCall, TreeUser } from './tree-server.ts';

/** User of the process, and the paths that it may see. */
export interface TreeProcessRequest {
  /** Null: the runner's own. */
  readonly user: TreeUser | null;
  /** Confines it to a folder, which exists; null: it sees what its user may see. */
  readonly sandbox: { readonly isolation: Isolation; readonly folder: string } | null;
}

/**
 * Maximum time of a reply: the longest is a piece of a file, or a folder with all its names. A server that
 * does not answer waits for a file system.
 */
const answerMilliseconds = 60_000;
/** Interval between checks of a server that has not replied: code of a run that shares its uid can stop it. */
const checkMilliseconds = 500;
/** It is small, has nothing to do in parallel, and waits most of the time. */
const smallProcess = ['--v8-pool-size=0', '--max-semi-space-size=1'] as const;

/** Also for a request that cannot be sent: that is noticed before the exit. */
function endedError(cause?: Error): Error {
  return new Error('the process that reads and writes the work folder has ended', { cause });
}

/** The process that reads and writes, for one run at a time. */
export class TreeProcess implements AsyncDisposable {
  readonly #user: TreeProcessRequest['user'];
  /** Paths in its sandbox, which remain the same if they are replaced outside; null: it has none. */
  readonly #shown: string | null;
  readonly #child: ChildProcess;
  readonly #inside: Promise<ProcessIdentity | null>;
  readonly #waiting: { resolve(answer: TreeAnswer): void; reject(error: Error): void }[] = [];
  readonly #ready: Promise<void>;
  readonly #exited: Promise<void>;
  #isGone = false;

  constructor(request: TreeProcessRequest) {
    this.#user = request.user;
    this.#shown = request.sandbox === null ? null : identityOf(request.sandbox.folder);
    this.#child = startServer(request);
    this.#inside = request.sandbox === null ? Promise.resolve(null) : firstInside(this.#child);
    this.#child.on('message', (answer: TreeAnswer) => this.#waiting.shift()?.resolve(answer));
    this.#exited = new Promise((resolve) => {
      for (const event of ['error', 'exit'] as const) this.#child.once(event, () => resolve());
    });
    this.#child.once('error', (error) => this.#fail(error));
    this.#child.once('exit', () => this.#fail(endedError()));
    this.#ready = this.#expect().then(() => undefined);
    // The first request reports a failure to start.
    this.#ready.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill();
    await this.#exited;
  }

  /** Whether another run may use it after this one. Otherwise, it may share its user with code of the run. */
  get mayWait(): boolean {
    return (this.#shown !== null || this.#user === 'each') && this.#waiting.length === 0;
  }

  /** Whether it has the rights of a new process, and sees what a new one would see. */
  mayServe({ user, sandbox }: TreeProcessRequest): boolean {
    return user === this.#user && this.#shown === (sandbox === null ? null : identityOf(sandbox.folder));
  }

  /** Gives it to a run. @param slotUid the run's user; null: the runner's own */
  async attach(slotUid: number | null): Promise<void> {
    await this.request({ operation: 'attach', uid: slotUid });
  }

  /** Takes it from its run, with the rights of its user. */
  async detach(): Promise<void> {
    await this.request({ operation: 'detach' });
  }

  async request(request: TreeCall): Promise<Exclude<TreeAnswer, { error: string }>> {
    const timer = setTimeout(() => this.#giveUp('does not answer'), answerMilliseconds).unref();
    const check = setInterval(() => void this.#endIfStopped(), checkMilliseconds).unref();
    const answer = await this.#answerTo(request).finally(() => {
      clearTimeout(timer);
      clearInterval(check);
    });
    if ('error' in answer) throw Object.assign(new Error(answer.error), { code: answer.code });
    return answer;
  }

  async #answerTo(request: TreeCall): Promise<TreeAnswer> {
    await this.#ready;
    const answered = this.#expect();
    this.#child.send(request, (error) => error && this.#fail(endedError(error)));
    return answered;
  }

  #expect(): Promise<TreeAnswer> {
    if (this.#isGone) return Promise.reject(endedError());
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

/** The same for one folder only, whatever its path is. */
function identityOf(folder: string): string | null {
  const status = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev}-${status.ino}`;
}

function startServer({ user, sandbox }: TreeProcessRequest): ChildProcess {
  const command = [
    process.execPath,
    ...smallProcess,
    '--disable-sigusr1',
    ownProgram,
    'tree-server' satisfies ProgramRole,
    String(user ?? 0),
  ];
  const options = {
    serialization: 'advanced',
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  } as const;
  if (sandbox === null) {
    const [program = '', ...args] = user === 'each' ? withFewCapabilities(command) : command;
    return spawn(program, args, { ...options, stdio: [...options.stdio], env: {}, detached: true });
  }
  const { isolation, folder } = sandbox;
  return spawnInSandbox({
    ...options,
    isolation,
    sandbox: readerSandbox(folder, isolation, programFiles()),
    command,
    environment: {
      NODE_CHANNEL_FD: String(channelDescriptor),
      NODE_CHANNEL_SERIALIZATION_MODE: options.serialization,
    },
    withParent: 'killed',
    ...(user === 'each' ? { capabilities: readerCapabilities() } : {}),
  });
}

/** Leaves root what it needs to act as the users of runs; after the command, the process has no way to more. */
function withFewCapabilities(command: readonly string[]): string[] {
  const kept = readerCapabilities().map((name) => `+${name.replace('CAP_', '').toLowerCase()}`);
  const limits = ['--no-new-privs', '--clear-groups', '--inh-caps', '-all', '--bounding-set'];
  return [requireProgram('setpriv'), ...limits, ['-all', ...kept].join(), '--', ...command];
}
