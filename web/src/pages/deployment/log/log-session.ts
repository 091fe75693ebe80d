/** The page's side of the worker that keeps the log: its last messages, for components to show. */
import type { LogBytesEvent } from '#contract/feeds/shapes.ts';
import { patternOf, type SearchText } from './store/pattern.ts';
import type {
  FromWorker,
  Questions,
  StepSize,
  StepState,
  ToWorker,
  WorkerRequest,
} from './store/protocol.ts';
import type { SearchCount } from './store/search.ts';
import type { ShownLine } from './store/shown-lines.ts';

const mostBlocks = 400;
/** An expression that has not come through some lines by then hardly ever will. */
const searchMilliseconds = 10_000;

export interface LogState {
  readonly sizes: ReadonlyMap<string, StepSize>;
  /** undefined: nothing is searched. */
  readonly count: SearchCount | undefined;
  /** Counts searches: another one marks other hits. */
  readonly searchNumber: number;
  /** Why the last search was stopped. */
  readonly searchError: string | undefined;
  /** Number of times that the log had to be read from its beginning again. */
  readonly restarts: number;
}

const keyOf = (step: string, block: number) => `${block} ${step}`;

export class LogSession {
  #worker: Worker | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #blockListeners = new Map<string, Set<() => void>>();
  readonly #blocks = new Map<string, readonly ShownLine[]>();
  /** Questions without an answer so far: another worker gets them, too. */
  readonly #unanswered = new Map<number, { question: WorkerRequest; resolve: (answer: unknown) => void }>();
  #lastId = 0;
  #steps: readonly StepState[] = [];
  #isStored = false;
  #giveUp: ReturnType<typeof setTimeout> | undefined;
  #state: LogState = {
    sizes: new Map(),
    count: undefined,
    searchNumber: 0,
    searchError: undefined,
    restarts: 0,
  };

  /** Whether the stream has brought any, which the worker may still be reading. */
  hasBytes = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): LogState => this.#state;

  #change(changes: Partial<LogState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case 'grown':
        return this.#change({ sizes: new Map(message.steps.map((size) => [size.name, size])) });
      case 'counted':
        this.#watchSearch(message.count.remaining > 0);
        return this.#change({ count: message.count });
      case 'gap':
        return this.restart();
      case 'block':
        return this.#keepBlock(keyOf(message.step, message.block), message.lines);
      case 'answer':
        this.#unanswered.get(message.id)?.resolve(message.answer);
        this.#unanswered.delete(message.id);
        return;
      default:
    }
  }

  #keepBlock(key: string, lines: readonly ShownLine[]): void {
    this.#blocks.delete(key);
    this.#blocks.set(key, lines);
    for (const old of this.#blocks.keys()) {
      if (this.#blocks.size <= mostBlocks) break;
      if (!this.#blockListeners.has(old)) this.#blocks.delete(old);
    }
    for (const listener of this.#blockListeners.get(key) ?? []) listener();
  }

  #send(message: ToWorker): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./log.worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (worker === this.#worker) this.#take(data);
    });
    worker.postMessage({ type: 'steps', steps: this.#steps } satisfies ToWorker);
    for (const [id, { question }] of this.#unanswered)
      worker.postMessage({ type: 'ask', id, question } satisfies ToWorker);
    return worker;
  }

  /** Adds bytes that the stream of the deployment has brought. What was read without it makes room for them. */
  append(event: LogBytesEvent): void {
    this.hasBytes = true;
    if (this.#isStored) return this.restart();
    this.#send({ type: 'append', ...event });
  }

  /** Adds lines that were read page by page: their bytes may differ from those of the stream. */
  appendStored(event: LogBytesEvent): void {
    this.#isStored = true;
    this.#send({ type: 'append', ...event });
  }

  /** Says that all of a step's log has come. @param step absent: of all steps */
  end(step?: string): void {
    this.#send({ type: 'ended', step });
  }

  setSteps(steps: readonly StepState[]): void {
    this.#steps = steps;
    this.#send({ type: 'steps', steps });
  }

  /** @throws SyntaxError for what cannot be read as a regular expression */
  search(search: SearchText | undefined): void {
    if (search) patternOf(search);
    this.#send({ type: 'search', search });
    const count = search && { lines: 0, hits: 0, remaining: 1 };
    this.#watchSearch(search !== undefined);
    this.#change({ count, searchNumber: this.#state.searchNumber + 1, searchError: undefined });
  }

  /** The worker answers nothing while it is in an expression that does not end: then another one takes over. */
  #watchSearch(isSearching: boolean): void {
    clearTimeout(this.#giveUp);
    if (!isSearching) return;
    this.#giveUp = setTimeout(() => {
      this.restart();
      this.#change({ searchError: 'This expression takes too long. Try a simpler one.' });
    }, searchMilliseconds);
  }

  /** Known content of a block; undefined: it was not read yet. */
  block(step: string, block: number): readonly ShownLine[] | undefined {
    return this.#blocks.get(keyOf(step, block));
  }

  /** Calls a function when a block is read again. @returns what ends this */
  watchBlock(step: string, block: number, listener: () => void): () => void {
    const key = keyOf(step, block);
    const listeners = this.#blockListeners.get(key) ?? new Set();
    this.#blockListeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#blockListeners.delete(key);
    };
  }

  /** @param longer lines of the block of which more characters are shown */
  readBlock(step: string, block: number, longer: Readonly<Record<number, number>> = {}): void {
    this.#send({ type: 'block', step, block, longer });
  }

  ask<Name extends keyof Questions>(
    name: Name,
    question: Questions[Name]['ask'],
  ): Promise<Questions[Name]['answer']> {
    const id = ++this.#lastId;
    const request = { name, ...question } as WorkerRequest;
    this.#worker ??= this.#start();
    const answer = new Promise<unknown>((resolve) =>
      this.#unanswered.set(id, { question: request, resolve }),
    );
    this.#send({ type: 'ask', id, question: request });
    return answer as Promise<Questions[Name]['answer']>;
  }

  /** Ends the worker; what is sent afterwards starts another one. */
  close(): void {
    clearTimeout(this.#giveUp);
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#isStored = false;
    this.#blocks.clear();
    this.#change({ sizes: new Map(), count: undefined });
  }

  /** Forgets everything: who sees it in the state brings the log again. */
  restart(): void {
    this.close();
    this.#change({ restarts: this.#state.restarts + 1 });
  }
}
