/** Reads states in the formats that the tools of this version write. */
import { tools } from '#protocol/tools/index.ts';
import type { StateFacts, StateFormat } from '#protocol/tools/tool.ts';

export type { StateFacts } from '#protocol/tools/tool.ts';

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

/** @throws Error that says why the bytes are not a state */
export function readStateFacts(bytes: Uint8Array): StateFacts {
  return byFormat((format) => format.read(bytes));
}

/**
 * Checks every part of a state that a person or a tool outside of runs sends.
 * @throws Error that completes "…: " with what is wrong with it
 */
export function checkStateFile(bytes: Uint8Array): StateFacts {
  return byFormat((format) => format.check(bytes));
}
