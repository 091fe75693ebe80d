import { cutText, type DiagnosticFinding, reasonOf } from '../interface/diagnostics.ts';
import { withoutColours } from './progress.ts';

/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;

const heading = /^(?:│ )?(Error|Warning): /;
/** Start of the tool's text after diagnostics without boxes. */
const continuation = /^(?:─{5,}|Apply complete!|Destroy complete!|Saved the plan to|Plan: \d)/;

/** Number of lines of a diagnostic: a box up to its lower edge, or a plain diagnostic up to the next one. */
function lengthAt(lines: readonly string[], start: number): number {
  const isBoxed = lines[start]?.startsWith('│') === true;
  let end = start + 1;
  for (let line = lines[end]; line !== undefined; line = lines[++end])
    if (isBoxed ? !line.startsWith('│') : heading.test(line) || continuation.test(line)) break;
  return end - start;
}

/** Introductions of terraform to the errors of a configuration have no information of their own. */
const preamble = /^Error: \w+ encountered problems during initiali[sz]ation/;

const failedCheck = /^Warning: Check block assertion failed\b/;

function severityOf(text: string): DiagnosticFinding['severity'] {
  if (text.startsWith('Error')) return 'error';
  return failedCheck.test(text) ? 'check' : 'warning';
}

/** Each `Error: …` and `Warning: …` of terraform's human output, boxed or not, as plain text of at most 4 KiB. */
export function terraformDiagnostics(output: string): DiagnosticFinding[] {
  const lines = withoutColours(output.slice(-searchedCharacters)).split(/\r?\n/);
  const found: DiagnosticFinding[] = [];
  for (let at = 0, length = 1; at < lines.length; at += length) {
    length = 1;
    if (!heading.test(lines[at]!)) continue;
    length = lengthAt(lines, at);
    const own = lines.slice(at, at + length).map((line) => line.replace(/^│ ?/, '').trimEnd());
    const text = cutText(own.join('\n').trim());
    if (!preamble.test(text)) found.push({ severity: severityOf(text), text });
  }
  return found;
}

/** The first error, and how many more there are. @returns null if there is none */
export function terraformReason(output: string): string | null {
  return reasonOf(terraformDiagnostics(output));
}
