/** The message of a failure in the output of terragrunt. */
import { type DiagnosticFinding, reasonOf } from '../interface/diagnostics.ts';
import { terraformDiagnostics } from '../terraform/diagnostics.ts';
import { withoutColours } from '../terraform/progress.ts';
import { readUnitLine } from './progress.ts';

/** Only this much of the output's end is searched: diagnostics are short. */
const searchedCharacters = 262_144;
const longestMessage = 4_000;

/** Reports of terraform or OpenTofu in each unit. */
function ofUnits(lines: readonly string[]): DiagnosticFinding[] {
  const texts = new Map<string, string[]>();
  for (const line of lines) {
    const found = readUnitLine(line);
    if (found === null) continue;
    const known = texts.get(found.unit);
    if (known) known.push(found.text);
    else texts.set(found.unit, [found.text]);
  }
  return [...texts].flatMap(([unit, found]) =>
    terraformDiagnostics(found.join('\n')).map(({ severity, text }) => ({
      severity,
      text: unit === '.' ? text : `unit ${unit}: ${text}`,
    })),
  );
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

/** Reports of the tool in each unit, or in the only one. */
export function terragruntDiagnostics(output: string): DiagnosticFinding[] {
  const text = withoutColours(output.slice(-searchedCharacters));
  const found = ofUnits(text.split(/\r?\n/));
  return found.length > 0 ? found : terraformDiagnostics(text);
}

/** The first error, and how many more there are, as plain text; null if there is none. */
export function terragruntReason(output: string): string | null {
  const own = () => ofTerragrunt(withoutColours(output.slice(-searchedCharacters)).split(/\r?\n/));
  return reasonOf(terragruntDiagnostics(output)) ?? own();
}
