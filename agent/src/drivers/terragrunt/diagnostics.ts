/** The message of a failure in the output of terragrunt. */
import { lastTerraformDiagnostic } from '../terraform/diagnostics.ts';
import { withoutColours } from '../terraform/progress.ts';
import { readUnitLine } from './progress.ts';

/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;
const longestMessage = 4_000;

/** The last diagnostic of terraform or OpenTofu in a unit. */
function ofUnit(lines: readonly string[]): string | null {
  const texts = new Map<string, string[]>();
  let last: string | null = null;
  for (const line of lines) {
    const found = readUnitLine(line);
    if (found === null) continue;
    texts.set(found.unit, [...(texts.get(found.unit) ?? []), found.text]);
    if (/^(?:│ )?Error: /.test(found.text)) last = found.unit;
  }
  if (last === null) return null;
  const message = lastTerraformDiagnostic((texts.get(last) ?? []).join('\n'));
  return message === null || last === '.' ? message : `unit ${last}: ${message}`;
}

/** The first error of terragrunt itself, with the lines that belong to it. */
function ofTerragrunt(lines: readonly string[]): string | null {
  const isOwn = (line: string) => /^\S+ ERROR\s/.test(line) && readUnitLine(line) === null;
  const start = lines.findLastIndex((line) => isOwn(line));
  if (start === -1) return null;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^\d\d:\d\d:\d\d\S* [A-Z]+\s/.test(line) || line.startsWith('❯❯'));
  const body = end === -1 ? rest : rest.slice(0, end);
  const first = (lines[start] ?? '').replace(/^\S+ ERROR\s+/, '');
  return [first, ...body].join('\n').trim().slice(0, longestMessage);
}

/** The tool's last diagnostic in a step's output, as plain text; null if there is none. */
export function lastTerragruntDiagnostic(output: string): string | null {
  const text = withoutColours(output.slice(-searchedCharacters));
  const lines = text.split(/\r?\n/);
  return ofUnit(lines) ?? lastTerraformDiagnostic(text) ?? ofTerragrunt(lines);
}
