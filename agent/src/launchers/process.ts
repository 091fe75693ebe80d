/**
 * Launches runners as processes on the agent's machine. They are started before there is work for them,
 * because starting Node takes longer than most of the agent's work. Each has its own session, outlives the
 * agent once it has its order, and ends when its standard input ends without one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ownProgram, type Role } from '../own-program.ts';
import { identifyProcess, isAlive, signalProcess } from '../processes/process-identity.ts';
import type { RunGroups } from '../processes/run-groups.ts';
import type { ProcessIdentity, RunnerOrder } from '../spool/layout.ts';
import type { Launcher, Runner, RunnerListener } from './launcher.ts';

export interface ProcessLauncherOptions {
  /** Receives the runners' output. */
  readonly logFile: string;
  readonly compileCacheFolder: string;
  readonly onFailure: (reason: string) => void;
  /** Control groups of the runners; absent: they have none. */
  readonly groups?: RunGroups | undefined;
}

interface Ready {
  readonly child: ChildProcess;
  /** Null where it cannot be used. */
  readonly identity: Promise<ProcessIdentity | null>;
}

const pauseAfterFailureMilliseconds = 1_000;
/** The start of a run needs the whole processor. */
const pauseAfterStartMilliseconds = 300;

export class ProcessLauncher implements Launcher {
  readonly #options: ProcessLauncherOptions;
  readonly #idle: Ready[] = [];
  #isClosed = false;
  #target = 0;
  #lastStartAt = -Infinity;
  #refill: NodeJS.Timeout | undefined;

  constructor(options: ProcessLauncherOptions) {
    this.#options = options;
  }

  /** Starts the missing runners, but not right after another one was used; keeps surplus ones. */
  warm(count: number): void {
    this.#target = count;
    const pause = this.#lastStartAt + pauseAfterStartMilliseconds - performance.now();
    if (pause <= 0) this.#fill();
    else this.#refill ??= setTimeout(() => this.#fill(), pause).unref();
  }

  async start(order: RunnerOrder, { chosen, ended }: RunnerListener): Promise<void> {
    const { child, identity } = await this.#choose();
    try {
      await chosen(identity);
    } catch (error) {
      child.stdin?.end();
      throw error;
    }
    child.stdin?.end(`${JSON.stringify(order)}\n`);
    if (child.exitCode !== null || child.signalCode !== null) ended();
    else child.once('exit', ended);
  }

  find(identity: ProcessIdentity): Runner {
    return {
      hasEnded: () => !isAlive(identity),
      signal: (signal) => signalProcess(identity, signal),
      rest: () => this.#options.groups?.members(identity) ?? [],
      endRest: async () => this.#options.groups?.end(identity),
    };
  }

  async endOthers(kept: readonly ProcessIdentity[]): Promise<void> {
    await this.#options.groups?.endOthers(kept);
  }

  /** Ends the runners that have no order. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#refill);
    for (const { child } of this.#idle.splice(0)) child.stdin?.end();
  }

  async #choose(): Promise<{ readonly child: ChildProcess; readonly identity: ProcessIdentity }> {
    this.#lastStartAt = performance.now();
    for (;;) {
      if (this.#isClosed) throw new Error('the agent is shutting down and starts no more runners');
      const ready = this.#idle.shift() ?? this.#spawn();
      const { child } = ready;
      const identity = await ready.identity;
      if (identity && child.exitCode === null && child.signalCode === null) return { child, identity };
      await delay(pauseAfterFailureMilliseconds);
    }
  }

  #fill(): void {
    clearTimeout(this.#refill);
    this.#refill = undefined;
    while (!this.#isClosed && this.#idle.length < this.#target) this.#idle.push(this.#spawn());
  }

  #spawn(): Ready {
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
        `it exited with ${code === null ? signal : `code ${code}`}, see ${this.#options.logFile}`,
      ),
    );
    return { child, identity: this.#identify(child) };
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

  #forget(child: ChildProcess, reason: string): void {
    const index = this.#idle.findIndex((ready) => ready.child === child);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    this.#options.onFailure(reason);
  }
}
