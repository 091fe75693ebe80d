import { withoutColours } from './progress.ts';

const longestMessageBytes = 4096;
/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestMessageBytes) return text;
  return `${bytes
    .subarray(0, longestMessageBytes - 4)
    .toString()
    .replace(/\uFFFD+$/, '')}…`;
}

/** The lines of a box up to its lower edge, or of a plain diagnostic up to the next one. */
function diagnosticLines(lines: readonly string[], start: number): string[] {
  const isBoxed = lines[start]!.startsWith('│');
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => (isBoxed ? !line.startsWith('│') : /^(Error|Warning): /.test(line)));
  const body = end === -1 ? rest : rest.slice(0, end);
  return [lines[start]!, ...body].map((line) => (isBoxed ? line.replace(/^│ ?/, '') : line).trimEnd());
}

/**
 * The last `Error: …` of terraform's human output, boxed or not, as plain text of at most 4 KiB.
 * @returns null if there is no error
 */
export function lastTerraformDiagnostic(output: string): string | null {
  const lines = withoutColours(output.slice(-searchedCharacters)).split(/\r?\n/);
  const start = lines.findLastIndex((line) => /^(?:│ )?Error: /.test(line));
  if (start === -1) return null;
  return cut(diagnosticLines(lines, start).join('\n').trim());
}
