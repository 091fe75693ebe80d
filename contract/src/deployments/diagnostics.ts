/** Reports of a deployment's tool other than its plan. */

export const diagnosticSeverities = ['error', 'check', 'warning'] as const;

/** Reports of the tool in a step. */
export interface Diagnostic {
  severity: (typeof diagnosticSeverities)[number];
  step: string;
  text: string;
}

/** Of a deployment: more of them are only in the log. */
export const mostDiagnostics = 100;

/** All of them, each once, the most severe first, at most as many as a deployment shows. */
export function joinDiagnostics(all: readonly Diagnostic[]): Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  for (const each of all) {
    const key = `${each.severity} ${each.text}`;
    if (!found.has(key)) found.set(key, each);
  }
  const rank = ({ severity }: Diagnostic) => diagnosticSeverities.indexOf(severity);
  return [...found.values()].toSorted((one, other) => rank(one) - rank(other)).slice(0, mostDiagnostics);
}

/**
 * Numbers of failed checks and of warnings, such as "1 failed check, 2 warnings".
 * @returns empty where there are none
 */
export function findingsText(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic['severity'], one: string, many: string) => {
    const number = diagnostics.filter((each) => each.severity === severity).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  };
  return [
    ...count('check', 'failed check', 'failed checks'),
    ...count('warning', 'warning', 'warnings'),
  ].join(', ');
}
