/**
 * One step's log on its way to the server. The masked log is a pure function of the raw bytes: after a
 * restart, or when the server requests an earlier part, the raw file is read again from its beginning and
 * results in the same bytes at the same offsets.
 */
import { setImmediate as otherWork } from 'node:timers/promises';
import { GrowingFile } from './growing-file.ts';

/** Raw bytes that are masked before anything else in this process gets its turn. */
const turnBytes = 1024 * 1024;

/**
 * Turns raw bytes into what may leave the agent; the division of the input into chunks does not change the
 * joined output.
 */
export interface ByteFilter {
  push(bytes: Uint8Array): Uint8Array;
  /** Returns the bytes held back, after the last input. */
  end(): Uint8Array;
}

export class MaskedStepLog implements Disposable {
  readonly #file: GrowingFile;
  readonly #createFilter: () => ByteFilter;
  readonly #mostRawBytes: number;
  #filter: ByteFilter;
  #rawOffset = 0;
  /** Raw bytes that belong to the log, known once the step has ended. */
  #rawEnd: number | null = null;
  #isFiltered = false;
  /** Offset in the masked log of the first pending byte. */
  #offset = 0;
  /** Masked bytes that are still to be skipped after the raw file was started again. */
  #skip = 0;
  #pending: Buffer = Buffer.alloc(0);

  /**
   * @param createFilter makes the masking filter, each time that the raw file is read from its beginning
   * @param mostRawBytes later bytes of the file are never read: a run can extend it without printing
   */
  constructor(file: string, createFilter: () => ByteFilter, mostRawBytes = Infinity) {
    this.#mostRawBytes = mostRawBytes;
    this.#file = new GrowingFile(file);
    this.#createFilter = createFilter;
    this.#filter = createFilter();
  }

  get offset(): number {
    return this.#offset;
  }

  get pending(): Buffer {
    return this.#pending;
  }

  get isClosed(): boolean {
    return this.#rawEnd !== null;
  }

  /** Nothing will follow the pending bytes. */
  get isWhole(): boolean {
    return this.#isFiltered;
  }

  /**
   * Bytes beyond these do not belong to the log.
   * @param rawBytes as recorded earlier; null: the file's size now
   * @returns the raw bytes that count
   */
  close(rawBytes: number | null): number {
    this.#rawEnd ??= rawBytes ?? Math.min(this.#file.size(), this.#mostRawBytes);
    return this.#rawEnd;
  }

  /** Reads until this many masked bytes are pending, or the file ends. */
  async fill(pendingBytes: number): Promise<void> {
    let turn = 0;
    while (!this.#isFiltered && this.#pending.length < pendingBytes) {
      const bytes = this.#file.read(this.#rawOffset, (this.#rawEnd ?? this.#mostRawBytes) - this.#rawOffset);
      this.#rawOffset += bytes.length;
      turn += bytes.length;
      if (turn >= turnBytes) {
        turn = 0;
        await otherWork();
      }
      if (bytes.length > 0) this.#append(this.#filter.push(bytes));
      else if (this.#rawEnd === null) return;
      else this.#finish();
    }
  }

  /** Continues from the byte that the server expects next, also backwards. */
  goTo(offset: number): void {
    if (offset === this.#offset) return;
    if (offset < this.#offset) this.#beginAnew();
    this.#skip += offset - this.#offset;
    const held = this.#pending;
    this.#pending = Buffer.alloc(0);
    this.#offset = offset;
    this.#append(held);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #finish(): void {
    this.#append(this.#filter.end());
    this.#isFiltered = true;
  }

  #append(masked: Uint8Array): void {
    const skipped = Math.min(this.#skip, masked.length);
    this.#skip -= skipped;
    if (masked.length > skipped) this.#pending = Buffer.concat([this.#pending, masked.subarray(skipped)]);
  }

  #beginAnew(): void {
    this.#filter = this.#createFilter();
    this.#rawOffset = 0;
    this.#isFiltered = false;
    this.#skip = 0;
    this.#offset = 0;
    this.#pending = Buffer.alloc(0);
  }
}
