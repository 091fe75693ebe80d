/** Whole lines of a log as the text that is searched: what a person sees of it, without colours. */
import { plainText } from '../text/segments.ts';
import { terminalLine } from '../text/terminal.ts';

const decoder = new TextDecoder();
let room = new Uint8Array(1 << 20);

/**
 * Copies bytes without the sequences of colours, and without the carriage return of an end of line.
 * @returns how many are left; -1: there are control characters that need a closer look
 */
function withoutColors(bytes: Uint8Array, into: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x20 || byte === 0x0a || byte === 0x09) into[length++] = byte;
    else if (byte === 0x1b && bytes[at + 1] === 0x5b) {
      at += 2;
      while (at < bytes.length && ((bytes[at]! >= 0x30 && bytes[at]! <= 0x39) || bytes[at] === 0x3b)) at++;
      if (bytes[at] !== 0x6d) return -1;
    } else if (byte !== 0x0d || bytes[at + 1] !== 0x0a) return -1;
  }
  return length;
}

/** @param bytes whole lines @returns their text, as many lines */
export function plainLines(bytes: Uint8Array): string {
  if (room.length < bytes.length) room = new Uint8Array(bytes.length);
  const length = withoutColors(bytes, room);
  if (length >= 0) return decoder.decode(room.subarray(0, length));
  return decoder
    .decode(bytes)
    .split('\n')
    .map((line) => plainText(terminalLine(line)))
    .join('\n');
}
