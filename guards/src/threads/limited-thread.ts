/**
 * Work on untrusted texts in a thread with limits of processor time and memory. A thread that fails or exceeds a limit is
 * ended, and the next task starts another one.
 *
 * The memory limit ends the thread only while it runs JavaScript and allocates small pieces: `JSON.parse` of a text
 * that needs more, or an array that grows to a large part of the limit, ends the whole process. Bound the number of
 * values first.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Transferable, Worker } from 'node:worker_threads';
import type { TaskReply } from './answer-tasks.ts';

export interface ThreadProgram {
  /** A module that calls `answerTasks`. */
  readonly program: string | URL;
  readonly argv?: readonly string[];
  /** Of processor time for each task: on a busy machine, a thread waits for its turns. */
  readonly seconds: number;
  /** Of the thread's heap. */
  readonly megabytes: number;
}

/** A busy machine takes seconds to load a program, which does not depend on the task. */
const startSeconds = 60;

/** A task that does not get its processor time takes at most this many times as long. */
const patience = 12;
const shortestLookMilliseconds = 50;

/** The thread did not answer. The message completes "reading …: ". */
export class ThreadFailure extends Error {
  override readonly name = 'ThreadFailure';
}

export class LimitedThread<Task, Answer> implements AsyncDisposable {
  readonly #options: ThreadProgram;
  readonly #isSound: (answer: Answer) => boolean;
  #running: { readonly worker: Worker; readonly ready: Promise<unknown> } | undefined;
  /** Tasks wait for the one before. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param isSound false for an answer that the thread may not survive: the next task gets another thread */
  constructor(options: ThreadProgram, isSound: (answer: Answer) => boolean = () => true) {
    this.#options = options;
    this.#isSound = isSound;
  }

  /**
   * @param transfer buffers of the task that the caller no longer needs
   * @throws what the thread threw, or ThreadFailure if it exceeded a limit or ended
   */
  ask(task: Task, transfer: readonly Transferable[] = []): Promise<Answer> {
    const turn = this.#last.then(() => this.#answer(task, transfer));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.worker.terminate();
  }

  #start() {
    const { program, argv, megabytes } = this.#options;
    const worker = new Worker(program, {
      ...(argv ? { argv: [...argv] } : {}),
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: megabytes },
    });
    // A failure between two tasks has no effect: the next task starts another thread.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.#running?.worker === worker) this.#running = undefined;
    });
    const ready = once(worker, 'message', { signal: AbortSignal.timeout(startSeconds * 1000) });
    ready.catch(() => undefined);
    return { worker, ready };
  }

  async #answer(task: Task, transfer: readonly Transferable[]): Promise<Answer> {
    const { worker, ready } = (this.#running ??= this.#start());
    const { seconds } = this.#options;
    worker.ref();
    const ended = new AbortController();
    const exited = once(worker, 'exit', { signal: ended.signal }).then((): never => {
      throw new ThreadFailure('the thread ended without an answer');
    });
    exited.catch(() => undefined);
    let reply: TaskReply<Answer>;
    try {
      await Promise.race([ready, exited]);
      const answered = once(worker, 'message', { signal: ended.signal });
      const late = this.#exhausted(worker, ended.signal).then((): never => {
        throw new ThreadFailure(`it takes longer than ${seconds} s`);
      });
      for (const either of [answered, late]) either.catch(() => undefined);
      worker.postMessage(task, [...transfer]);
      [reply] = (await Promise.race([answered, exited, late])) as [TaskReply<Answer>];
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw this.#failure(error as NodeJS.ErrnoException);
    } finally {
      ended.abort();
      worker.unref();
    }
    if ('error' in reply) throw reply.error;
    if (!this.#isSound(reply.value)) await this[Symbol.asyncDispose]();
    return reply.value;
  }

  /** Waits until the thread has used the time of a task, or has waited too long for a processor. */
  async #exhausted(worker: Worker, signal: AbortSignal): Promise<void> {
    const { seconds } = this.#options;
    const last = performance.now() + seconds * patience * 1000;
    const before = secondsOf(worker);
    for (let left = seconds; left > 0 && performance.now() < last; ) {
      await delay(Math.max(left * 1000, shortestLookMilliseconds), undefined, { signal });
      const used = Promise.all([secondsOf(worker), before]).then(([now, then]) => now - then);
      // The thread answers between two steps of a program; of one that does not, time alone is known.
      const found = await Promise.race([used, delay(last - performance.now(), seconds, { signal })]);
      left = seconds - found;
    }
  }

  #failure(error: NodeJS.ErrnoException): ThreadFailure {
    if (error instanceof ThreadFailure) return error;
    const { megabytes } = this.#options;
    if (error.name === 'AbortError' || error.name === 'TimeoutError')
      return new ThreadFailure(`it does not start within ${startSeconds} s`, { cause: error });
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      return new ThreadFailure(`it takes more than ${megabytes} MB of memory`, { cause: error });
    return new ThreadFailure(error.message, { cause: error });
  }
}

/** The processor time that a thread has used. */
async function secondsOf(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage();
  return (user + system) / 1_000_000;
}

/** Answers one task in a thread that ends afterwards. */
export async function askOnce<Task, Answer>(
  program: ThreadProgram,
  task: Task,
  transfer: readonly Transferable[] = [],
): Promise<Answer> {
  await using thread = new LimitedThread<Task, Answer>(program);
  return await thread.ask(task, transfer);
}
