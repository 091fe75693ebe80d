/** The errors and warnings of the program in the output of a step. */
import {
  cutText,
  type DiagnosticFinding,
  errorsOf,
  markedLines,
  warningsOf,
} from '../interface/diagnostics.ts';
import { errorMark, failureOfEvent, failureText, ownFailures } from './stacks/api/reports.ts';

/** The last error of the program, which says how many more resources failed. @returns null if there is none */
export function stackReason(output: string): string | null {
  const lines = output.split(/\r?\n/);
  const start = lines.findLastIndex((line) => line.startsWith(errorMark));
  if (start === -1) return null;
  const message = lines.slice(start).join('\n').trim().slice(errorMark.length);
  return message.trim() === '' ? null : cutText(message);
}

/** Each resource that failed for a reason of its own, or else the error of the program, and its warnings. */
export function stackDiagnostics(output: string): DiagnosticFinding[] {
  const all = output.split(/\r?\n/).flatMap((line) => failureOfEvent(line) ?? []);
  const failed = ownFailures(all).map(failureText);
  const errors = failed.length > 0 ? failed : [stackReason(output) ?? ''];
  return [...errorsOf(errors), ...warningsOf(markedLines(output, /^Warning: /))];
}
