/** Reads states in the formats that the tools of this version write. */
import { tools } from '#protocol/tools/index.ts';
import type { StateFacts, StateFormat } from '#protocol/tools/tool.ts';

const formats: readonly StateFormat[] = [
  ...new Set(Object.values(tools).flatMap(({ state }) => (state === null ? [] : [state]))),
];

/** By the first format that the bytes have; else the first format says what is wrong. */
function byFormat(read: (format: StateFormat) => StateFacts): StateFacts {
  const problems: unknown[] = [];
  for (const format of formats) {
    try {
      return read(format);
    } catch (error) {
      problems.push(error);
    }
  }
  throw problems[0] ?? new Error('no tool of this version keeps a state');
}

/** How a state is read: for its facts only, or with a check of every part. */
export type Reading = 'read' | 'check';

/** @throws Error that says why the bytes are not a state */
export function readIn(reading: Reading, bytes: Uint8Array): StateFacts {
  return byFormat((format) => format[reading](bytes));
}
