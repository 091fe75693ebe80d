/** The log of one step: its bytes, and where its lines are. */
import { styleAfter } from '../text/style.ts';
import { ByteStore } from './byte-store.ts';
import { Numbers } from './numbers.ts';

/** Number of lines that are decoded and shown together. */
export const blockLines = 16;

const newline = 0x0a;
const escape = 0x1b;
const decoder = new TextDecoder();

/** Bytes of one line, without its newline. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** The result of an attempt to add bytes; `gap`: some are missing before them. */
export type AddResult = 'added' | 'known' | 'gap';

export class StepLog {
  readonly bytes = new ByteStore();
  /** Start of each block of lines. */
  readonly #blocks = new Numbers();
  /** Colours that are on where a block begins, for blocks where any is. */
  readonly #styles = new Map<number, string>();
  /** When the bytes from an offset on were stored. */
  readonly #times: { readonly offset: number; readonly at: number }[] = [];
  #style = '';
  #wholeLines = 0;
  #lastLine = 0;

  constructor() {
    this.#blocks.push(0);
  }

  /** Lines so far, with one that has not ended. */
  get lineCount(): number {
    return this.#wholeLines + (this.bytes.length > this.#lastLine ? 1 : 0);
  }

  /** Up to where lines have ended. */
  get wholeBytes(): number {
    return this.#lastLine;
  }

  /**
   * Adds bytes that continue the log; what is there already is left out.
   * @param at when they were stored, in milliseconds since 1970
   */
  append(offset: number, bytes: Uint8Array, at?: number): AddResult {
    const start = this.bytes.length;
    if (offset > start) return 'gap';
    if (offset + bytes.length <= start) return 'known';
    const added = bytes.subarray(start - offset);
    if (at !== undefined && this.#times.at(-1)?.at !== at) this.#times.push({ offset: start, at });
    this.bytes.append(added);
    for (let found = added.indexOf(newline); found >= 0; found = added.indexOf(newline, found + 1))
      this.#endLine(start + found + 1);
    return 'added';
  }

  #endLine(next: number): void {
    this.#lastLine = next;
    this.#wholeLines++;
    if (this.#wholeLines % blockLines !== 0) return;
    this.#updateStyle(this.#blocks.at(this.#blocks.length - 1)!, next);
    if (this.#style !== '') this.#styles.set(this.#blocks.length, this.#style);
    this.#blocks.push(next);
  }

  #updateStyle(from: number, to: number): void {
    const bytes = this.bytes.slice(from, to);
    if (!bytes.includes(escape)) return;
    const text = decoder.decode(bytes);
    const reset = Math.max(text.lastIndexOf('\x1b[0m'), text.lastIndexOf('\x1b[m'));
    this.#style = styleAfter(reset < 0 ? this.#style : '', text.slice(Math.max(0, reset)));
  }

  /** Sequences that switch on the colours that are on where a block begins. */
  styleOf(block: number): string {
    return this.#styles.get(block) ?? '';
  }

  /** The lines of a block. */
  linesOf(block: number): LineRange[] {
    const ranges: LineRange[] = [];
    const count = Math.min(blockLines, this.lineCount - block * blockLines);
    let from = this.#blocks.at(block) ?? this.bytes.length;
    while (ranges.length < count) {
      const found = this.bytes.indexOf(newline, from);
      const to = found < 0 ? this.bytes.length : found;
      ranges.push({ from, to });
      from = to + 1;
    }
    return ranges;
  }

  /** When a byte was stored; undefined: unknown. */
  timeOf(offset: number): number | undefined {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#times[middle]!.offset <= offset) low = middle + 1;
      else high = middle;
    }
    return this.#times[low - 1]?.at;
  }

  /** The bytes of whole lines. @param from first line, from 0 on @param to the line after the last */
  bytesOf(from: number, to: number): Uint8Array {
    const end = to >= this.lineCount ? this.bytes.length : this.#startOf(to);
    return this.bytes.slice(Math.min(end, this.#startOf(from)), end);
  }

  #startOf(line: number): number {
    const block = Math.floor(line / blockLines);
    return this.linesOf(block)[line % blockLines]?.from ?? this.bytes.length;
  }
}
