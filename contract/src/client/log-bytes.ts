/**
 * Log bytes as events contain them: as text wherever they are UTF-8, never cut inside a character, else as
 * base64.
 */
import type { LogBytesEvent } from '../feeds/shapes.ts';

/** Length in bytes of a sequence that starts with this byte; 0 if no sequence starts with it. */
function lengthFrom(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/**
 * The range of the second byte after some lead bytes: no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 */
function isSecond(lead: number, byte: number): boolean {
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return byte >= lowest && byte <= highest;
}

/**
 * @returns the length of the character at `at`, 0 if the bytes are not a character, -1 if they could become
 * one with more bytes
 */
function characterAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lengthFrom(lead);
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return -1;
    if (index === 1 ? !isSecond(lead, byte) : byte < 0x80 || byte > 0xbf) return 0;
  }
  return length;
}

interface ByteRun {
  readonly isText: boolean;
  readonly from: number;
  readonly to: number;
}

/**
 * Between other bytes, a text shorter than this many bytes is sent with them: random bytes would make an
 * event of every few.
 */
const shortestText = 32;

/** Characters, or other bytes, from `from` on; empty where what is there may become a character later. */
function runAt(bytes: Uint8Array, from: number, isFinal: boolean): ByteRun {
  const isText = characterAt(bytes, from) > 0;
  let to = from;
  while (to < bytes.length) {
    const length = characterAt(bytes, to);
    if ((length === -1 && !isFinal) || length > 0 !== isText) break;
    to += Math.max(1, length);
  }
  return { isText, from, to };
}

/** Runs of characters and of other bytes; what may become a character later is left out. */
function runsOf(bytes: Uint8Array, isFinal: boolean): ByteRun[] {
  const runs: ByteRun[] = [];
  for (let at = 0; at < bytes.length; ) {
    const run = runAt(bytes, at, isFinal);
    if (run.to === at) break;
    at = run.to;
    const last = runs.at(-1);
    const before = runs.at(-2);
    if (!run.isText && before && last && last.to - last.from < shortestText)
      runs.splice(-2, 2, { ...run, from: before.from });
    else runs.push(run);
  }
  return runs;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** The usual case at the speed of the decoder; null where the bytes are not whole characters. */
function wholeText(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Cuts log bytes into the data of `log` events.
 * @param slice `offset`: of the first byte in the step's log; `isFinal`: no more bytes will come, so that
 * half a character at the end is sent too
 * @returns the events, and how many bytes they hold: the rest must be sent again in front of what comes next
 */
export function logBytesEvents(slice: {
  step: string;
  offset: number;
  bytes: Uint8Array;
  isFinal: boolean;
}): {
  events: LogBytesEvent[];
  consumed: number;
} {
  const { step, offset, bytes, isFinal } = slice;
  if (bytes.length === 0) return { events: [], consumed: 0 };
  const text = wholeText(bytes);
  if (text !== null) return { events: [{ step, offset, bytes: bytes.length, text }], consumed: bytes.length };
  const events = runsOf(bytes, isFinal).map(({ isText, from, to }) => {
    const part = bytes.subarray(from, to);
    return {
      step,
      offset: offset + from,
      bytes: to - from,
      ...(isText ? { text: decoder.decode(part) } : { base64: toBase64(part) }),
    };
  });
  return { events, consumed: events.reduce((sum, event) => sum + event.bytes, 0) };
}

/** The bytes that a `log` event carries. */
export function bytesOfLogEvent(event: Pick<LogBytesEvent, 'text' | 'base64'>): Uint8Array {
  if (event.text !== undefined) return new TextEncoder().encode(event.text);
  return Uint8Array.from(atob(event.base64 ?? ''), (character) => character.charCodeAt(0));
}
