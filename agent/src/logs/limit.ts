/**
 * Keeps a step's log whole up to a number of bytes; of a longer one it keeps the head, which streams
 * immediately, and the tail, with a gap that shows how much is missing. A pure function of all the bytes:
 * chunk borders change nothing.
 */
export interface Limiter {
  /** Accepts the next bytes and returns what may be stored now, possibly a view of the same bytes. */
  push(bytes: Uint8Array): Uint8Array;
  /** Returns the gap, if there is one, and the tail. */
  end(): Uint8Array;
}

/** A run is stopped if a step's raw output exceeds the limit of its log this many times. */
export const rawOutputFactor = 4;

/** Output limit of a step, for a log of at most that many bytes. */
export function mostRawBytes(logBytes: number): number {
  return logBytes * rawOutputFactor;
}

const largestTailBytes = 1_048_576;

/** The last bytes of a stream, in memory of a fixed size. */
function ring(capacity: number) {
  let buffer = Buffer.alloc(0);
  let taken = 0;
  return {
    /** The total number of bytes so far. */
    get taken() {
      return taken;
    },
    add(bytes: Buffer) {
      if (buffer.length === 0 && bytes.length > 0) buffer = Buffer.alloc(capacity);
      for (
        let rest = bytes.subarray(Math.max(0, bytes.length - capacity)),
          at = (taken + bytes.length - rest.length) % capacity;
        rest.length > 0;
        at = 0
      ) {
        const copied = rest.copy(buffer, at);
        rest = rest.subarray(copied);
      }
      taken += bytes.length;
    },
    content(): Buffer {
      if (taken <= capacity) return buffer.subarray(0, taken);
      const start = taken % capacity;
      return Buffer.concat([buffer.subarray(start), buffer.subarray(0, start)]);
    },
  };
}

function gapText(leftOutBytes: number, maximumBytes: number): Buffer {
  const count = (bytes: number) => bytes.toLocaleString('en-US');
  return Buffer.from(
    `\x1b[0m\n[${count(leftOutBytes)} bytes are left out here: at most ${count(maximumBytes)} bytes of a step's log are kept]\n`,
  );
}

/**
 * @param maximumBytes up to this length the log is kept whole; at least 2
 * @param tailBytes how much of the end of a longer log is kept, at most half of the maximum; held back until
 * the end once the head is full
 */
export function createLimiter(maximumBytes: number, tailBytes = largestTailBytes): Limiter {
  const tailCapacity = Math.max(1, Math.min(tailBytes, Math.floor(maximumBytes / 2)));
  const headCapacity = maximumBytes - tailCapacity;
  const tail = ring(tailCapacity);
  let streamed = 0;
  return {
    push(bytes) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const head = chunk.subarray(0, headCapacity - streamed);
      streamed += head.length;
      tail.add(chunk.subarray(head.length));
      return head;
    },
    end() {
      const leftOut = tail.taken - tailCapacity;
      return leftOut <= 0 ? tail.content() : Buffer.concat([gapText(leftOut, maximumBytes), tail.content()]);
    },
  };
}
