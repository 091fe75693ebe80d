/**
 * Launches runners as processes on the agent's machine. They are started before there is work for them, and
 * execute one order after the other, because starting Node takes longer than most of the agent's work. Each has
 * its own session, completes the order that it has if the agent ends, and ends when its standard input does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { ownProgram, type ProgramRole } from '../own/own-program.ts';
import { identifyProcess, isAlive, type ProcessIdentity, signalProcess } from '../processes/proc.ts';
import type { RunGroups } from '../processes/run-groups.ts';
import { readyLine } from '../runner/ready-line.ts';
import type { RunnerOrder, RunnerPreparation } from '../spool/layout.ts';
import type { Launcher, Runner, RunnerListener } from './launcher.ts';

export interface ProcessLauncherOptions {
  /** Receives the runners' output. */
  readonly logFile: string;
  readonly compileCacheFolder: string;
  readonly onFailure: (reason: string) => void;
  /** Time after the last start or end of a run until all ready runners but one are ended: each occupies some 40 MB. */
  readonly spareMilliseconds: number;
  /** Control groups of the runners; absent: they have none. */
  readonly groups?: RunGroups | undefined;
  /** Preparation of runners before their first order; absent: none. */
  readonly preparation?: RunnerPreparation | undefined;
}

/** Runners wait most of the time, and there are several of them. */
const smallHeap = ['--max-semi-space-size=2'];
const pauseAfterFailureMilliseconds = 1_000;
/** The start of a run needs the whole processor. */
const pauseAfterStartMilliseconds = 300;
/** A runner is replaced after these, whatever has accumulated in it. */
const mostOrders = 100;

/** A runner without an order, or with one. */
interface RunnerProcess {
  readonly child: ChildProcess;
  /** Null if it cannot be used. */
  readonly identity: Promise<ProcessIdentity | null>;
  orders: number;
  /** Called when it has executed its order; null while it has none. */
  ended: (() => void) | null;
}

export class ProcessLauncher implements Launcher {
  readonly #options: ProcessLauncherOptions;
  readonly #runners = new Set<RunnerProcess>();
  readonly #mostOrders: number;
  #isClosed = false;
  #most = 0;
  #lastStartAt = -Infinity;
  /** Of the start or the end of a run. */
  #lastUseAt = -Infinity;
  #refill: NodeJS.Timeout | undefined;
  #thinning: NodeJS.Timeout | undefined;

  constructor(options: ProcessLauncherOptions) {
    this.#options = options;
    // Remaining processes of a run are ended with its whole group, the runner included.
    this.#mostOrders = options.groups === undefined ? mostOrders : 1;
  }

  /** Starts a runner if none is ready and fewer than that many are there, but not right after a run began. */
  warm(most: number): void {
    this.#most = most;
    const pause = this.#lastStartAt + pauseAfterStartMilliseconds - performance.now();
    if (pause <= 0) this.#fill();
    else this.#refill ??= setTimeout(() => this.#fill(), pause).unref();
  }

  async start(
    order: RunnerOrder,
    { chosen, ended }: RunnerListener,
    preferred?: ProcessIdentity,
  ): Promise<void> {
    const { runner, identity } = await this.#choose(ended, preferred);
    runner.orders += 1;
    try {
      chosen(identity);
    } catch (error) {
      this.#dismiss(runner);
      throw error;
    }
    // If it has already ended, `ended` was called.
    send(runner, order);
  }

  runnerOf(identity: ProcessIdentity): Runner {
    return {
      hasEnded: () => !isAlive(identity),
      signal: (signal) => signalProcess(identity, signal),
      mayContinue: this.#mostOrders > 1,
      rest: () => this.#options.groups?.members(identity) ?? [],
      endRest: async () => this.#options.groups?.end(identity),
    };
  }

  async endOthers(toKeep: readonly ProcessIdentity[]): Promise<void> {
    await this.#options.groups?.endOthers(toKeep);
  }

  /** Ends the runners that have no order, and the others after theirs. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#refill);
    clearTimeout(this.#thinning);
    for (const runner of this.#runners) this.#dismiss(runner);
  }

  async #choose(
    ended: () => void,
    preferred: ProcessIdentity | undefined,
  ): Promise<{ readonly runner: RunnerProcess; readonly identity: ProcessIdentity }> {
    this.#lastStartAt = performance.now();
    this.#lastUseAt = this.#lastStartAt;
    for (;;) {
      if (this.#isClosed) throw new Error('the agent is shutting down and starts no more runners');
      const runner = this.#ready(preferred) ?? this.#spawn();
      runner.ended = ended;
      const identity = await runner.identity;
      const { exitCode, signalCode } = runner.child;
      if (identity && exitCode === null && signalCode === null) return { runner, identity };
      this.#runners.delete(runner);
      await delay(pauseAfterFailureMilliseconds);
    }
  }

  #ready(preferred?: ProcessIdentity): RunnerProcess | undefined {
    const ready = this.#allReady();
    return ready.find(({ child: { pid } }) => pid !== undefined && pid === preferred?.pid) ?? ready[0];
  }

  #allReady(): RunnerProcess[] {
    return [...this.#runners].filter(({ ended }) => ended === null);
  }

  #fill(): void {
    clearTimeout(this.#refill);
    this.#refill = undefined;
    if (!this.#isClosed && this.#runners.size < this.#most && this.#ready() === undefined) this.#spawn();
  }

  #spawn(): RunnerProcess {
    const log = openSync(this.#options.logFile, 'a', 0o600);
    const child = spawn(process.execPath, [...smallHeap, ownProgram, 'runner' satisfies ProgramRole], {
      cwd: '/',
      detached: true,
      env: { NODE_COMPILE_CACHE: this.#options.compileCacheFolder },
      stdio: ['pipe', 'pipe', log],
    });
    closeSync(log);
    child.unref();
    const [input, output] = [child.stdin as Socket, child.stdout as Socket];
    input.on('error', () => {}).unref();
    output.unref();
    const runner: RunnerProcess = { child, identity: this.#identify(child), orders: 0, ended: null };
    this.#runners.add(runner);
    const { preparation } = this.#options;
    // Started processes then belong to its control group, too.
    if (preparation !== undefined)
      void runner.identity.then((identity) => identity && send(runner, preparation));
    createInterface({ input: output }).on('line', (line) => {
      if (line === readyLine) this.#readyAgain(runner);
    });
    child.once('error', (error) => this.#gone(runner, error.message));
    child.once('exit', (code, signal) =>
      this.#gone(
        runner,
        `it exited with ${code === null ? signal : `code ${code}`}, see ${this.#options.logFile}`,
      ),
    );
    return runner;
  }

  /** Before there is work, because moving a process to a group takes time. */
  async #identify(child: ChildProcess): Promise<ProcessIdentity | null> {
    const { groups, onFailure } = this.#options;
    const identity = child.pid === undefined ? null : identifyProcess(child.pid);
    if (identity === null || groups === undefined) return identity;
    child.once('exit', () => groups.removeIfEmpty(identity));
    try {
      await groups.place(identity);
      return identity;
    } catch (error) {
      child.kill('SIGKILL');
      onFailure(`it cannot be moved to a control group: ${(error as Error).message}`);
      return null;
    }
  }

  #readyAgain(runner: RunnerProcess): void {
    const { ended } = runner;
    runner.ended = null;
    this.#lastUseAt = performance.now();
    if (this.#isClosed || runner.orders >= this.#mostOrders || this.#runners.size > this.#most)
      this.#dismiss(runner);
    else this.#thin();
    ended?.();
  }

  /** Keeps the ready runner that has executed the most orders, once no run has begun or ended for a while. */
  #thin(): void {
    clearTimeout(this.#thinning);
    const ready = this.#allReady().toSorted((left, right) => right.orders - left.orders);
    if (ready.length < 2) return;
    const pause = this.#lastUseAt + this.#options.spareMilliseconds - performance.now();
    if (pause > 0) this.#thinning = setTimeout(() => this.#thin(), pause).unref();
    else for (const runner of ready.slice(1)) this.#dismiss(runner);
  }

  /** It ends, after the order that it has. */
  #dismiss(runner: RunnerProcess): void {
    this.#runners.delete(runner);
    runner.child.stdin?.end();
  }

  #gone(runner: RunnerProcess, reason: string): void {
    const wasKnown = this.#runners.delete(runner);
    if (runner.ended !== null) runner.ended();
    else if (wasKnown) this.#options.onFailure(reason);
  }
}

function send({ child }: RunnerProcess, message: RunnerOrder | RunnerPreparation): void {
  child.stdin?.write(`${JSON.stringify(message)}\n`);
}
