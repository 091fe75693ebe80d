/** Reads states in the formats that the tools of this version write. */
import { type ByteRange, topLevelPlace } from '#guards/json-bytes.ts';
import { tools } from '#protocol/tools/index.ts';
import type { StateFacts, StateFormat } from '#protocol/tools/tool.ts';

const formats: readonly StateFormat[] = [
  ...new Set(Object.values(tools).flatMap(({ state }) => (state === null ? [] : [state]))),
];

const headBytes = 1024;

function hasMark({ mark }: StateFormat, bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes));
  return mark !== undefined && head.includes(`"${mark}"`);
}

/** By the first format that the bytes have; else the one with their mark, or the first without one, says what is wrong. */
function byFormat(bytes: Uint8Array, read: (format: StateFormat) => StateFacts): StateFacts {
  const problems = new Map<StateFormat, unknown>();
  for (const format of formats) {
    try {
      return read(format);
    } catch (error) {
      problems.set(format, error);
    }
  }
  const own =
    formats.find((format) => hasMark(format, bytes)) ?? formats.find(({ mark }) => mark === undefined);
  throw own === undefined ? new Error('no tool of this version keeps a state') : problems.get(own);
}

/** Readers of states: for facts only, or with a check of every part. */
export type ReadMode = 'read' | 'check';

/**
 * Facts about a state, and the position of its serial in the bytes.
 * @throws Error that says why the bytes are not a state
 */
export function readState(
  reading: ReadMode,
  bytes: Uint8Array,
): { facts: StateFacts; serialPlace: ByteRange } {
  const facts = byFormat(bytes, (format) => format[reading](bytes));
  return { facts, serialPlace: topLevelPlace(bytes, 'serial') };
}
