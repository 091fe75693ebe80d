/** A search through the logs of all steps, which continues when more lines come. */
import { Numbers } from './numbers.ts';
import { hitsIn, type Pattern } from './pattern.ts';
import { plainLines } from './plain-lines.ts';
import type { StepLog } from './step-log.ts';

const batchBytes = 1 << 18;
const newline = 0x0a;

interface SearchHits {
  /** Lines with a hit, from 0 on. */
  readonly lines: Numbers;
  hits: number;
  searchedLines: number;
  searchedBytes: number;
}

/** A line, from 0 on. */
export interface LogPosition {
  readonly step: string;
  readonly line: number;
}

export interface SearchHit extends LogPosition {
  /** Position among the lines with a hit, from 1 on. */
  readonly ordinal: number;
}

export interface SearchCount {
  readonly lines: number;
  readonly hits: number;
  /** Bytes that are not searched yet. */
  readonly remaining: number;
}

export interface SearchedStep {
  readonly name: string;
  readonly log: StepLog;
  /** Its last line has ended although no newline says so. */
  readonly isOver: boolean;
}

const endOf = ({ log, isOver }: SearchedStep) => (isOver ? log.bytes.length : log.wholeBytes);

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === newline) count++;
  return count;
}

/** Whole lines of about one batch from an offset on. */
export function batchOf(log: StepLog, from: number, end: number): Uint8Array {
  if (from + batchBytes >= end) return log.bytes.slice(from, end);
  const last = log.bytes.slice(from, from + batchBytes).lastIndexOf(newline);
  const next = last >= 0 ? from + last : log.bytes.indexOf(newline, from + batchBytes);
  return log.bytes.slice(from, next < 0 ? end : next + 1);
}

export class Search {
  readonly #pattern: Pattern;
  readonly #found = new Map<string, SearchHits>();

  constructor(pattern: Pattern) {
    this.#pattern = pattern;
  }

  #foundIn(step: string): SearchHits {
    let found = this.#found.get(step);
    if (!found) {
      found = { lines: new Numbers(), hits: 0, searchedLines: 0, searchedBytes: 0 };
      this.#found.set(step, found);
    }
    return found;
  }

  /** Searches one batch of what is not searched yet. @returns whether there was any */
  advance(steps: readonly SearchedStep[]): boolean {
    for (const step of steps) {
      const found = this.#foundIn(step.name);
      const end = endOf(step);
      if (found.searchedBytes >= end) continue;
      const bytes = batchOf(step.log, found.searchedBytes, end);
      const text = plainLines(bytes);
      if (this.#pattern.isLiteral) this.#searchAtOnce(text, found);
      else this.#searchLines(text, found);
      found.searchedLines += newlinesIn(bytes);
      found.searchedBytes += bytes.length;
      return true;
    }
    return false;
  }

  /** A hit of a literal text is never in two lines, so that many lines can be searched as one text. */
  #searchAtOnce(text: string, found: SearchHits): void {
    const { regex } = this.#pattern;
    let line = found.searchedLines;
    let end = text.indexOf('\n');
    let last = -1;
    regex.lastIndex = 0;
    for (let match = regex.exec(text); match; match = regex.exec(text)) {
      for (; end >= 0 && end < match.index; end = text.indexOf('\n', end + 1)) line++;
      found.hits++;
      if (line !== last) found.lines.push(line);
      last = line;
    }
  }

  #searchLines(text: string, found: SearchHits): void {
    for (const [index, line] of text.split('\n').entries()) {
      const hits = hitsIn(this.#pattern, line).length / 2;
      found.hits += hits;
      if (hits > 0) found.lines.push(found.searchedLines + index);
    }
  }

  count(steps: readonly SearchedStep[]): SearchCount {
    const count = { lines: 0, hits: 0, remaining: 0 };
    for (const step of steps) {
      const found = this.#foundIn(step.name);
      count.lines += found.lines.length;
      count.hits += found.hits;
      count.remaining += Math.max(0, endOf(step) - found.searchedBytes);
    }
    return count;
  }

  /**
   * The next line with a hit, from the other end where there is none.
   * @param from that line itself is left out
   */
  next(
    steps: readonly SearchedStep[],
    from: LogPosition | undefined,
    isBackwards: boolean,
  ): SearchHit | undefined {
    const lists = steps.map(({ name }) => ({ name, lines: this.#foundIn(name).lines }));
    const total = lists.reduce((sum, { lines }) => sum + lines.length, 0);
    if (total === 0) return undefined;
    const step = lists.findIndex(({ name }) => name === from?.step);
    const before = lists.slice(0, Math.max(0, step)).reduce((sum, { lines }) => sum + lines.length, 0);
    const inStep = step < 0 ? 0 : lists[step]!.lines.countBelow(from!.line + (isBackwards ? 0 : 1));
    const wanted = before + inStep - (isBackwards ? 1 : 0);
    let index = (wanted + total) % total;
    const ordinal = index + 1;
    for (const { name, lines } of lists) {
      if (index < lines.length) return { step: name, line: lines.at(index)!, ordinal };
      index -= lines.length;
    }
    return undefined;
  }
}
