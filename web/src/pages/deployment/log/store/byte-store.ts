/** Bytes that only grow, in blocks: nothing is copied when more come. */

const blockBits = 18;
const blockBytes = 1 << blockBits;

export class ByteStore {
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const within = this.#length & (blockBytes - 1);
      if (within === 0) this.#blocks.push(new Uint8Array(blockBytes));
      const part = bytes.subarray(from, from + blockBytes - within);
      this.#blocks.at(-1)!.set(part, within);
      from += part.length;
      this.#length += part.length;
    }
  }

  /** Bytes from `from` up to `to`, possibly a view of what is stored. */
  slice(from: number, to: number): Uint8Array<ArrayBuffer> {
    const first = Math.floor(from / blockBytes);
    const offset = first * blockBytes;
    if (to <= offset + blockBytes)
      return (this.#blocks[first] ?? new Uint8Array()).subarray(from - offset, to - offset);
    const whole = new Uint8Array(to - from);
    for (let at = from; at < to; ) {
      const end = Math.min(to, (Math.floor(at / blockBytes) + 1) * blockBytes);
      whole.set(this.slice(at, end), at - from);
      at = end;
    }
    return whole;
  }

  /** Position of the next such byte from `from` on; -1: none. */
  indexOf(byte: number, from: number): number {
    for (let at = from; at < this.#length; ) {
      const start = Math.floor(at / blockBytes) * blockBytes;
      const end = Math.min(this.#length, start + blockBytes);
      const found = this.slice(at, end).indexOf(byte);
      if (found >= 0) return at + found;
      at = end;
    }
    return -1;
  }

  /** All of it as one file. */
  parts(): BlobPart[] {
    return this.#blocks.map((block, index) =>
      block.subarray(0, Math.min(blockBytes, this.#length - index * blockBytes)),
    );
  }
}
