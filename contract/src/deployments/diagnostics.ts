/** What the tool of a deployment reports besides its plan. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';

export const diagnosticSeverities = ['error', 'check', 'warning'] as const;

/** What the tool reported in a step. */
export const Diagnostic = Type.Object(
  {
    severity: oneOf(
      diagnosticSeverities,
      'check: an assertion of a check block failed, or could not be evaluated',
    ),
    step: Type.String({ description: 'The step whose log has it' }),
    text: Type.String({ description: 'As the tool reports it, with secrets masked, at most 4 KB' }),
  },
  { title: 'Diagnostic' },
);
export type Diagnostic = Static<typeof Diagnostic>;

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
 * How many checks failed and how many warnings there are, such as "1 failed check, 2 warnings".
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
