/** Summary of a run of the suite: counts, skipped tests with reasons, durations of files. */
import { relative } from 'node:path';
import { root } from '../tree/repository.ts';
import type { TestEvent } from './test-events.ts';

/** Counts as node's runner prints them, in its order and with its words. */
const counted = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const;
type Counted = (typeof counted)[number];

/** Failures that node's runner counts as cancelled. */
const cancellations = new Set(['cancelledByParent', 'testAborted', 'testTimeoutFailure']);
/** This many of the files that took longest are printed. */
const printedFiles = 30;

/** Tests that were skipped for the same reason, by file. */
type Skips = Map<string, number>;

export class Report {
  /** Seconds by file, relative to the root. */
  readonly durations = new Map<string, number>();
  readonly #counts = new Map<Counted, number>(counted.map((name) => [name, 0]));
  readonly #skips = new Map<string, Skips>();
  readonly #started = performance.now();
  #isGood = true;

  /** Whether everything ran and nothing failed. */
  get isGood(): boolean {
    return this.#isGood && this.#counts.get('fail') === 0 && this.#counts.get('cancelled') === 0;
  }

  /** Since the start of the run. */
  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  add({ type, data }: TestEvent): void {
    if (type === 'test:pass' || type === 'test:fail') this.#addResult(type, data);
    else if (type === 'test:summary') this.#isGood &&= data.success === true;
  }

  #addResult(type: 'test:pass' | 'test:fail', data: TestEvent['data']): void {
    if (type === 'test:pass' && data.skip) this.#addSkip(data);
    if (data.details?.type === 'suite') return this.#increase('suites');
    this.#increase('tests');
    this.#increase(outcomeOf(type, data));
  }

  #increase(name: Counted): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #addSkip({ file = '', skip }: TestEvent['data']): void {
    const reason = typeof skip === 'string' && skip ? skip : 'no reason stated';
    const files = this.#skips.get(reason) ?? new Map<string, number>();
    const name = relative(root, file);
    this.#skips.set(reason, files.set(name, (files.get(name) ?? 0) + 1));
  }

  /** Prints what was left out, the longest files and, at the very end, the counts. */
  print(): void {
    this.#printSkips();
    this.#printLongest();
    for (const name of counted) console.log(`ℹ ${name} ${this.#counts.get(name)}`);
    console.log(`ℹ duration_ms ${(this.seconds * 1000).toFixed(1)}`);
  }

  #printSkips(): void {
    if (this.#skips.size > 0) console.log('\nSkipped:');
    for (const [reason, files] of this.#skips) {
      console.log(`  ${reason}`);
      for (const [file, tests] of files)
        console.log(`    ${file}: ${tests} ${tests === 1 ? 'test' : 'tests'}`);
    }
    if (this.#skips.size > 0)
      console.log('How to install missing programs: CONTRIBUTING.md, "Missing programs".');
  }

  #printLongest(): void {
    const longest = [...this.durations].toSorted(([, one], [, other]) => other - one).slice(0, printedFiles);
    console.log('\nLongest files:');
    for (const [file, seconds] of longest) console.log(`  ${file}: ${seconds.toFixed(1)} s`);
    console.log('');
  }
}

function outcomeOf(type: 'test:pass' | 'test:fail', { skip, todo, details }: TestEvent['data']): Counted {
  if (skip !== undefined) return 'skipped';
  if (todo !== undefined) return 'todo';
  if (type === 'test:pass') return 'pass';
  return cancellations.has(details?.error?.failureType ?? '') ? 'cancelled' : 'fail';
}
