/** Errors, failed checks and warnings that tools print. */
import { type Diagnostic, joinDiagnostics, mostDiagnostics } from '#contract/deployments/diagnostics.ts';

/** Findings of a driver in the output of a command. */
export type DiagnosticFinding = Omit<Diagnostic, 'step'>;

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
export function reasonOf(findings: readonly DiagnosticFinding[], unlisted = 0): string | null {
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

/** As many texts as a deployment shows, and how many more there are. */
export interface FirstTexts {
  readonly texts: readonly string[];
  readonly unlisted: number;
}

function distinct(all: readonly string[]): string[] {
  return [...new Set(all)].filter((text) => text.trim() !== '');
}

/** The first of these texts, each once, before anything is added to each of them. */
export function firstTexts(all: readonly string[]): FirstTexts {
  const texts = distinct(all);
  return { texts: texts.slice(0, mostDiagnostics), unlisted: Math.max(0, texts.length - mostDiagnostics) };
}

function findingsOf(severity: DiagnosticFinding['severity'], texts: readonly string[]): DiagnosticFinding[] {
  return distinct(texts).map((text) => ({ severity, text: cutText(text) }));
}

/** Errors with these texts, each once. */
export function errorsOf(texts: readonly string[]): DiagnosticFinding[] {
  return findingsOf('error', texts);
}

/** Warnings with these texts, each once. */
export function warningsOf(texts: readonly string[]): DiagnosticFinding[] {
  return findingsOf('warning', texts);
}

/** The texts of the lines that begin with a mark. */
export function markedLines(output: string, mark: RegExp): string[] {
  return output
    .split(/\r?\n/)
    .filter((line) => mark.test(line))
    .map((line) => line.replace(mark, '').trim());
}

/** Collects what the commands of an attempt report. */
export class Diagnostics {
  #found: readonly Diagnostic[] = [];

  add(step: string, findings: readonly DiagnosticFinding[]): void {
    this.#found = joinDiagnostics([...this.#found, ...findings.map((each) => ({ ...each, step }))]);
  }

  all(): Diagnostic[] {
    return [...this.#found];
  }
}
