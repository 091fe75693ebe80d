/** Errors, failed checks and warnings that tools print. */
import { type Diagnostic, joinDiagnostics } from '#contract/deployments/diagnostics.ts';

/** What a driver finds in the output of a command. */
export type Finding = Omit<Diagnostic, 'step'>;

const longestTextBytes = 4096;

/** A text of at most 4 KB. */
export function cutText(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestTextBytes) return text;
  return `${bytes
    .subarray(0, longestTextBytes - 4)
    .toString()
    .replace(/\uFFFD+$/, '')}…`;
}

/**
 * The first error, whose first line says how many more there are; null without errors.
 * @param unlisted how many more there are than the findings
 */
export function reasonOf(findings: readonly Finding[], unlisted = 0): string | null {
  const errors = [
    ...new Set(findings.filter(({ severity }) => severity === 'error').map(({ text }) => text)),
  ];
  const [first, ...more] = errors;
  const count = more.length + unlisted;
  if (first === undefined || count === 0) return first ?? null;
  const [line = '', ...rest] = first.split('\n');
  const inWords = count === 1 ? '1 more error' : `${count} more errors`;
  return [`${line.trimEnd()} (and ${inWords})`, ...rest].join('\n');
}

/** Errors with these texts. */
export function errorsOf(texts: readonly string[]): Finding[] {
  return texts.map((text) => ({ severity: 'error', text: cutText(text) }));
}

/** Lines that begin with the mark of a warning. */
export function warningLines(output: string, mark: RegExp): Finding[] {
  return output
    .split(/\r?\n/)
    .filter((line) => mark.test(line))
    .map((line) => ({ severity: 'warning', text: cutText(line.replace(mark, '').trim()) }));
}

/** Collects what the commands of an attempt report. */
export class Diagnostics {
  #found: readonly Diagnostic[] = [];

  add(step: string, findings: readonly Finding[]): void {
    this.#found = joinDiagnostics([...this.#found, ...findings.map((each) => ({ ...each, step }))]);
  }

  all(): Diagnostic[] {
    return [...this.#found];
  }
}
