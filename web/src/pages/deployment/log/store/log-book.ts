/** The logs of all steps of a deployment, kept in a worker: the page only gets the lines that it shows. */
import { bytesOfLogEvent } from '#contract/client/log-bytes.ts';
import type { LogBytesEvent } from '#contract/feeds/shapes.ts';
import { firstError } from './first-error.ts';
import { type Pattern, patternOf } from './pattern.ts';
import { plainLines } from './plain-lines.ts';
import type { FromWorker, StepState, ToWorker, WorkerRequest } from './protocol.ts';
import { Search, type SearchedStep } from './search.ts';
import { shownLines } from './shown-lines.ts';
import { StepLog } from './step-log.ts';

/** Searching pauses after so long, so that lines to be shown do not wait. */
const turnMilliseconds = 40;
const grownMilliseconds = 60;
/** So many bytes make each telling take a millisecond more: the page lays out all that is there. */
const bytesPerMillisecond = 1 << 18;

export class LogBook {
  readonly #send: (message: FromWorker) => void;
  readonly #logs = new Map<string, StepLog>();
  readonly #ended = new Set<string>();
  #states: readonly StepState[] = [];
  #hasAllEnded = false;
  /** Questions for the first error that wait for the rest of a log. */
  #waiting: number[] = [];
  #pattern: Pattern | undefined;
  #search: Search | undefined;
  #isSearching = false;
  #isGrowthAnnounced = true;
  #isGapAnnounced = false;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  take(message: ToWorker): void {
    switch (message.type) {
      case 'append':
        return this.#append(message);
      case 'steps':
        this.#states = message.steps;
        return this.#answerWaiting();
      case 'ended':
        return this.#end(message.step);
      case 'block':
        return this.#sendBlock(message.step, message.block, message.longer);
      case 'search':
        this.#pattern = message.search && patternOf(message.search);
        this.#search = this.#pattern && new Search(this.#pattern);
        return this.#continueSearch();
      case 'ask':
        if (message.question.name === 'error') return this.#waitForError(message.id);
        return this.#send({ type: 'answer', id: message.id, answer: this.#answer(message.question) });
      default:
    }
  }

  /** In the order of the deployment; steps that it does not know come last. */
  #steps(): SearchedStep[] {
    const names = new Set([...this.#states.map(({ name }) => name), ...this.#logs.keys()]);
    return [...names].flatMap((name) => {
      const log = this.#logs.get(name);
      return log ? [{ name, log, isOver: this.#hasEnded(name) }] : [];
    });
  }

  #hasEnded(step: string): boolean {
    return this.#hasAllEnded || this.#ended.has(step);
  }

  #end(step: string | undefined): void {
    if (step === undefined) this.#hasAllEnded = true;
    else this.#ended.add(step);
    this.#answerWaiting();
    this.#continueSearch();
  }

  #waitForError(id: number): void {
    this.#waiting.push(id);
    this.#answerWaiting();
  }

  #answerWaiting(): void {
    const failed = this.#states.filter(({ isFailed }) => isFailed).map(({ name }) => name);
    if (this.#waiting.length === 0 || failed.length === 0 || !failed.every((name) => this.#hasEnded(name)))
      return;
    const answer = firstError(this.#steps().filter(({ name }) => failed.includes(name)));
    for (const id of this.#waiting) this.#send({ type: 'answer', id, answer });
    this.#waiting = [];
  }

  #append(event: LogBytesEvent): void {
    let log = this.#logs.get(event.step);
    if (!log) {
      log = new StepLog();
      this.#logs.set(event.step, log);
    }
    const at = event.at === undefined ? undefined : Date.parse(event.at);
    const added = log.append(event.offset, bytesOfLogEvent(event), at);
    if (added === 'gap') return this.#tellGap();
    this.#isGapAnnounced = false;
    if (added === 'known' || !this.#isGrowthAnnounced) return;
    this.#isGrowthAnnounced = false;
    const bytes = [...this.#logs.values()].reduce((sum, each) => sum + each.bytes.length, 0);
    setTimeout(() => this.#tellGrowth(), grownMilliseconds + bytes / bytesPerMillisecond);
  }

  #tellGap(): void {
    if (this.#isGapAnnounced) return;
    this.#isGapAnnounced = true;
    this.#send({ type: 'gap' });
  }

  #tellGrowth(): void {
    this.#isGrowthAnnounced = true;
    const steps = [...this.#logs].map(([name, log]) => ({
      name,
      lines: log.lineCount,
      bytes: log.bytes.length,
    }));
    this.#send({ type: 'grown', steps });
    this.#continueSearch();
  }

  #sendBlock(step: string, block: number, longer: Readonly<Record<number, number>>): void {
    const log = this.#logs.get(step);
    const lines = log ? shownLines(log, block, this.#pattern, longer) : [];
    this.#send({ type: 'block', step, block, lines });
  }

  #continueSearch(): void {
    if (this.#isSearching || !this.#search) return;
    this.#isSearching = true;
    this.#searchTurn();
  }

  /** One turn of searching; other messages come between two of them, among them that of another search. */
  #searchTurn(): void {
    const until = performance.now() + turnMilliseconds;
    const steps = this.#steps();
    let isMore = this.#search !== undefined;
    while (isMore && performance.now() < until) isMore = this.#search?.advance(steps) ?? false;
    this.#isSearching = isMore;
    if (this.#search) this.#send({ type: 'counted', count: this.#search.count(steps) });
    if (isMore) setTimeout(() => this.#searchTurn(), 0);
  }

  #answer(question: WorkerRequest): unknown {
    switch (question.name) {
      case 'next':
        return this.#search?.next(this.#steps(), question.from, question.isBackwards);
      case 'text': {
        const log = this.#logs.get(question.step);
        return log ? plainLines(log.bytesOf(question.from, question.to)) : '';
      }
      case 'file':
        return this.#file(question.step);
      default:
    }
  }

  #file(step: string | undefined): Blob {
    const logs = this.#steps().filter(({ name }) => step === undefined || name === step);
    return new Blob(
      logs.flatMap(({ log }) => log.bytes.parts()),
      { type: 'application/octet-stream' },
    );
  }
}
