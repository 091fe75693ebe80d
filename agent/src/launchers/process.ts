/**
 * Runner processes that are started and loaded before there is work for them, because starting Node takes
 * longer than most of what the agent does. Each has a session of its own, outlives the agent once it has its
 * order, and ends by itself when its standard input ends without one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ownProgram, type Role } from '../own-program.ts';
import { identifyProcess } from '../processes/process-identity.ts';
import type { ProcessIdentity, RunnerOrder } from '../spool/layout.ts';

export interface RunnerPoolOptions {
  /** What runners write to their standard error beside their spool folders goes here. */
  readonly logFile: string;
  readonly compileCacheFolder: string;
  readonly onFailure: (reason: string) => void;
}

export interface WarmRunner {
  readonly identity: ProcessIdentity;
  /**
   * Hands over the one order; a runner that is gone by then is found gone by whoever waits for its outcome.
   */
  give(order: RunnerOrder): void;
  /** There is no order for it after all: it ends. */
  release(): void;
  /** Calls back once the process has ended. */
  onEnd(callback: () => void): void;
}

const pauseAfterFailureMilliseconds = 1_000;
/** The first moments of a run need the processor for themselves. */
const pauseAfterTakeMilliseconds = 300;

export class RunnerPool implements Disposable {
  readonly #options: RunnerPoolOptions;
  readonly #idle: ChildProcess[] = [];
  #isClosed = false;
  #wanted = 0;
  #takenAt = -Infinity;
  #refill: NodeJS.Timeout | undefined;

  constructor(options: RunnerPoolOptions) {
    this.#options = options;
  }

  /** Starts as many runners as are missing, shortly after one was taken; more than wanted are kept. */
  warm(count: number): void {
    this.#wanted = count;
    const pause = this.#takenAt + pauseAfterTakeMilliseconds - performance.now();
    if (pause <= 0) this.#fill();
    else this.#refill ??= setTimeout(() => this.#fill(), pause).unref();
  }

  /**
   * A runner without an order: a warm one, else a new one.
   * @throws an Error when the agent is about to end
   */
  async take(): Promise<WarmRunner> {
    this.#takenAt = performance.now();
    for (;;) {
      if (this.#isClosed) throw new Error('no runner is started any more: the agent ends');
      const child = this.#idle.shift() ?? this.#start();
      const identity = child.pid === undefined || child.exitCode !== null ? null : identifyProcess(child.pid);
      if (identity) return asWarmRunner(child, identity);
      await delay(pauseAfterFailureMilliseconds);
    }
  }

  /** Ends the runners that have no order. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#refill);
    for (const child of this.#idle.splice(0)) child.stdin?.end();
  }

  #fill(): void {
    clearTimeout(this.#refill);
    this.#refill = undefined;
    while (!this.#isClosed && this.#idle.length < this.#wanted) this.#idle.push(this.#start());
  }

  #start(): ChildProcess {
    const log = openSync(this.#options.logFile, 'a', 0o600);
    const child = spawn(process.execPath, [ownProgram, 'runner' satisfies Role], {
      cwd: '/',
      detached: true,
      env: { NODE_COMPILE_CACHE: this.#options.compileCacheFolder },
      stdio: ['pipe', log, log],
    });
    closeSync(log);
    child.unref();
    child.stdin?.on('error', () => {});
    child.once('error', (error) => this.#forget(child, error.message));
    child.once('exit', (code, signal) =>
      this.#forget(
        child,
        `it ended with ${code === null ? signal : `code ${code}`}, see ${this.#options.logFile}`,
      ),
    );
    return child;
  }

  #forget(child: ChildProcess, reason: string): void {
    const index = this.#idle.indexOf(child);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    this.#options.onFailure(reason);
  }
}

function asWarmRunner(child: ChildProcess, identity: ProcessIdentity): WarmRunner {
  return {
    identity,
    give: (order) => void child.stdin?.end(`${JSON.stringify(order)}\n`),
    release: () => void child.stdin?.end(),
    onEnd(callback) {
      if (child.exitCode !== null || child.signalCode !== null) callback();
      else child.once('exit', callback);
    },
  };
}
