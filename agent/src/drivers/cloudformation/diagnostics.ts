/** The last error of the program in the output of a step. */
import { errorMark } from './reports.ts';

const longestMessage = 4000;

/** @returns null if there is none */
export function lastStackDiagnostic(output: string): string | null {
  const lines = output.split(/\r?\n/);
  const start = lines.findLastIndex((line) => line.startsWith(errorMark));
  if (start === -1) return null;
  const message = lines.slice(start).join('\n').trim().slice(errorMark.length);
  if (message.trim() === '') return null;
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage)}…`;
}
