/** Distinguishes a log that a program has extended from one that was printed. */
import { closeSync, openSync, readSync } from 'node:fs';

const samples = 64;
const sampleBytes = 4096;
/** Of the bytes that were read. */
const mostly = 0.5;

/**
 * Whether a file is mostly zero bytes, as where nothing was ever written; printed logs have none. Its blocks alone do not tell: a file system
 * that compresses needs few for any log. It is read in places that a program cannot foresee.
 * @param size of the file
 */
export function isMostlyEmpty(path: string, size: number): boolean {
  const bytes = Buffer.alloc(sampleBytes);
  let read = 0;
  let zeros = 0;
  const descriptor = openSync(path, 'r');
  try {
    for (let index = 0; index < samples; index += 1) {
      const from = Math.floor(Math.random() * Math.max(1, size - sampleBytes));
      const sample = bytes.subarray(0, readSync(descriptor, bytes, 0, sampleBytes, from));
      read += sample.length;
      for (const byte of sample) if (byte === 0) zeros += 1;
    }
  } finally {
    closeSync(descriptor);
  }
  return zeros >= read * mostly;
}
