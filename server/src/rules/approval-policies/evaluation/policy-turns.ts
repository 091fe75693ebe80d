/** Turns of the policies of one check in processes that have read its input. */
import type { Context } from '../../../framework/context.ts';
import { PolicyError } from './policy-error.ts';
import type { PolicyTurn, SharedOpa } from './shared-opa.ts';
import type { SharedProcesses } from './shared-processes.ts';

/**
 * Result of a turn. Only a success counts: a policy that fails, or for which there is no process, is evaluated in its own.
 * `needsOwnProcess`: it needs more than the others can wait for, and gets no turn for a while.
 */
export type TurnResult = { readonly result: unknown } | { readonly needsOwnProcess: boolean };

/** Check whose policies take turns. */
export interface TurnsOfCheck {
  readonly context: Pick<Context, 'settings' | 'stopping'>;
  /** Part of the input that all policies have, as JSON. */
  readonly input: Buffer;
  /** Processes at once. */
  readonly most: number;
}

interface WaitingTurn {
  readonly turn: PolicyTurn;
  readonly answer: (result: TurnResult) => void;
}

/** Open turns for each process above which another one is used: it reads the whole input before its first turn. */
const turnsForProcess = 3;

/** Gives each policy of a check the next process that is free. */
export class PolicyTurns implements AsyncDisposable {
  readonly #check: TurnsOfCheck;
  readonly #processes: SharedProcesses;
  readonly #isOld: boolean;
  readonly #waiting: WaitingTurn[] = [];
  #idle: SharedOpa[] = [];
  #running = 0;
  #opening = 0;
  /** Processes that were taken, for which others are made ready at the end. */
  #taken = 0;
  /** No more processes are opened. */
  #isOver = false;
  #isDisposed = false;

  /** @param isOld for policies in the language of opa before 1.0 */
  constructor(check: TurnsOfCheck, processes: SharedProcesses, isOld: boolean) {
    this.#check = check;
    this.#processes = processes;
    this.#isOld = isOld;
  }

  /** @throws nothing */
  take(turn: PolicyTurn): Promise<TurnResult> {
    return new Promise((answer) => {
      this.#waiting.push({ turn, answer });
      this.#serve();
    });
  }

  /** Number of processes that are open or being opened. */
  get #open(): number {
    return this.#idle.length + this.#running + this.#opening;
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      const opa = this.#idle.pop() as SharedOpa;
      if (opa.hasEnded) {
        void this.#lose(opa);
        continue;
      }
      void this.#run(opa, this.#waiting.shift() as WaitingTurn);
    }
    const turns = this.#waiting.length + this.#running;
    const isWorthIt = this.#open === 0 || turns >= turnsForProcess * this.#open;
    if (!this.#isOver && this.#waiting.length > 0 && this.#open < this.#check.most && isWorthIt)
      void this.#openAnother();
    if (this.#open === 0)
      for (const { answer } of this.#waiting.splice(0)) answer({ needsOwnProcess: false });
  }

  async #run(opa: SharedOpa, { turn, answer }: WaitingTurn): Promise<void> {
    this.#running++;
    try {
      const result = await opa.take(turn);
      this.#idle.push(opa);
      answer({ result });
    } catch (error) {
      if (error instanceof PolicyError && !opa.hasEnded) {
        this.#idle.push(opa);
        answer({ needsOwnProcess: false });
      } else {
        answer({ needsOwnProcess: !this.#isDisposed });
        await this.#lose(opa);
      }
    } finally {
      this.#running--;
      await this.#next();
    }
  }

  /** Does not replace it: another one would read the input again, and be lost to the next such policy. */
  async #lose(opa: SharedOpa): Promise<void> {
    this.#isOver = true;
    await this.#processes.end(opa);
  }

  async #openAnother(): Promise<void> {
    const { context, input } = this.#check;
    this.#opening++;
    const opa = await this.#processes.take(context, this.#isOld).catch(() => null);
    if (opa === null) this.#isOver = true;
    else {
      this.#taken++;
      try {
        await opa.read(input, context.settings);
        this.#idle.push(opa);
      } catch {
        await this.#lose(opa);
      }
    }
    this.#opening--;
    await this.#next();
  }

  /** Serves turns that wait, or ends what is no longer needed. */
  async #next(): Promise<void> {
    if (this.#isDisposed) await this.#endIdle();
    this.#serve();
  }

  async #endIdle(): Promise<void> {
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(idle.map((opa) => this.#processes.end(opa)));
  }

  /** Ends its processes: one with a turn ends after it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#isDisposed = true;
    await this.#endIdle();
    for (let spare = 0; spare < this.#taken; spare++)
      this.#processes.prepare(this.#check.context, this.#isOld);
  }
}
