import { cutText, type Finding, reasonOf } from '../diagnostics.ts';
import { withoutColours } from './progress.ts';

/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;

const heading = /^(?:│ )?(Error|Warning): /;
/** Where the text of the tool continues after diagnostics without boxes. */
const continuation = /^(?:─{5,}|Apply complete!|Destroy complete!|Saved the plan to|Plan: \d)/;

/** The lines of a box up to its lower edge, or of a plain diagnostic up to the next one. */
function diagnosticLines(lines: readonly string[], start: number): string[] {
  const isBoxed = lines[start]!.startsWith('│');
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) =>
    isBoxed ? !line.startsWith('│') : heading.test(line) || continuation.test(line),
  );
  const body = end === -1 ? rest : rest.slice(0, end);
  return [lines[start]!, ...body].map((line) => (isBoxed ? line.replace(/^│ ?/, '') : line).trimEnd());
}

/** What terraform prints ahead of the errors of a configuration says nothing of its own. */
const preamble = /^Error: \w+ encountered problems during initiali[sz]ation/;

const failedCheck = /^Warning: Check block assertion failed\b/;

function severityOf(text: string): Finding['severity'] {
  if (text.startsWith('Error')) return 'error';
  return failedCheck.test(text) ? 'check' : 'warning';
}

/** Each `Error: …` and `Warning: …` of terraform's human output, boxed or not, as plain text of at most 4 KiB. */
export function terraformDiagnostics(output: string): Finding[] {
  const lines = withoutColours(output.slice(-searchedCharacters)).split(/\r?\n/);
  return lines.flatMap((line, start) => {
    if (!heading.test(line)) return [];
    const text = cutText(diagnosticLines(lines, start).join('\n').trim());
    return preamble.test(text) ? [] : [{ severity: severityOf(text), text }];
  });
}

/** The first error, and how many more there are. @returns null if there is none */
export function terraformReason(output: string): string | null {
  return reasonOf(terraformDiagnostics(output));
}
