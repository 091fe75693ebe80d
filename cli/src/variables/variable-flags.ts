/** Variables on the command line. Values of sensitive ones come from files, as others see command lines. */
import type { Command } from 'commander';
import { gather } from '../call/command-line.ts';
import { variableOptions } from '../call/option-names.ts';
import { textFromFile } from '../call/read-input.ts';
import { BadCall } from '../session/exit-codes.ts';
import { type VariableEntry, variablesOfFile } from './variable-file.ts';

export interface VariableFlags {
  readonly var?: readonly string[];
  readonly env?: readonly string[];
  readonly textVar?: readonly string[];
  readonly hclVar?: readonly string[];
  readonly jsonVar?: readonly string[];
  readonly sensitive?: readonly string[];
  readonly varFile?: readonly string[];
}

/** A variable of the call, and whether its value is part of the command line. */
interface VariableArgument {
  readonly change: VariableEntry;
  readonly isLiteral: boolean;
}

/** Common fields of the variables of an option. */
const settingsOf: Readonly<
  Record<(typeof variableOptions)[number][0], Omit<VariableEntry, 'name' | 'value'>>
> = {
  var: { type: 1 },
  env: { type: 0 },
  textVar: { type: 1, schema: { type: 'string' } },
  hclVar: { type: 1, schema: { type: 'string', format: 'HCL' } },
  jsonVar: { type: 1, schema: { type: 'string', format: 'JSON' } },
  sensitive: { type: 1, isSensitive: true },
};

export function withVariableFlags(command: Command): Command {
  return command
    .option(
      '--var <name=value>',
      'terraform variable; may be repeated. name=@file reads the value from a file, name=@- from standard input',
      gather,
    )
    .option('--env <name=value>', 'environment variable of the tool, in the same way', gather)
    .option(
      '--text-var <name=value>',
      'terraform variable with a plain text, even if its value was HCL or JSON before',
      gather,
    )
    .option(
      '--hcl-var <name=value>',
      'terraform variable with a value in HCL, such as ports=[80, 443]',
      gather,
    )
    .option('--json-var <name=value>', 'terraform variable with a value in JSON', gather)
    .option(
      '--var-file <file>',
      'terraform variables from a *.tfvars, *.tfvars.json or *.json file, or from JSON on standard input with -; other options win',
      gather,
    )
    .option(
      '--sensitive <name[=@file]>',
      'sensitive terraform variable, read from a file; or the name of a variable that another option reads from one',
      gather,
    );
}

/** @returns null if nothing follows the name */
function split(text: string): [name: string, value: string] | null {
  const at = text.indexOf('=');
  return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : null;
}

/** Checked before any prompt. @throws BadCall if several options read standard input */
function checkInputs({ varFile = [], ...flags }: VariableFlags): void {
  const texts = variableOptions.flatMap(([option]) => flags[option] ?? []);
  const fromInput = [
    ...texts.filter((text) => split(text)?.[1] === '@-'),
    ...varFile.filter((file) => file === '-'),
  ];
  if (fromInput.length > 1)
    throw new BadCall('Only one option can read standard input: use files for the others.');
}

/** The value itself, or that of `@file`; `@@` is an escaped `@` at the beginning. */
function valueOf(flag: string, name: string, text: string): [string, isLiteral: boolean] {
  if (!text.startsWith('@')) return [text, true];
  if (text.startsWith('@@')) return [text.slice(1), true];
  if (text === '@') throw new BadCall(`${flag} ${name}: write the name of a file after @.`);
  return [textFromFile(`${flag} ${name}`, text.slice(1)).replace(/\r?\n$/, ''), false];
}

function argumentOf(
  flag: string,
  text: string,
  settings: Omit<VariableEntry, 'name' | 'value'>,
): VariableArgument {
  const parts = split(text);
  // The value may be a secret, and is not repeated.
  if (!parts) throw new BadCall(`${flag} must have the form name=value.`);
  const [name, written] = parts;
  const [value, isLiteral] = valueOf(flag, name, written);
  if (isLiteral && settings.isSensitive)
    throw new BadCall(
      `${flag} ${name} must be read from a file: use ${name}=@file, or ${name}=@- for standard input.`,
    );
  return { change: { name, value, ...settings }, isLiteral };
}

/** Variables of files that no option specifies; of several files, the last one counts. */
function argumentsOfFiles(
  files: readonly string[],
  fromOptions: readonly VariableArgument[],
): VariableArgument[] {
  const changes = new Map(
    files.flatMap((file) => variablesOfFile(file)).map((change) => [change.name, change]),
  );
  for (const { change } of fromOptions) if (change.type === 1) changes.delete(change.name);
  return [...changes.values()].map((change) => ({ change, isLiteral: false }));
}

function checkMark(name: string, all: readonly VariableArgument[]): void {
  const marked = all.filter(({ change }) => change.name === name);
  if (marked.length === 0)
    throw new BadCall(
      '--sensitive must have the form name=@file, or be the name of a variable that another option reads from a file.',
    );
  if (marked.some(({ isLiteral }) => isLiteral))
    throw new BadCall(
      `--sensitive ${name}: others see its value on the command line: use ${name}=@file, or ${name}=@- for standard input.`,
    );
}

/**
 * The specified variables as changes of a request, in the order of `variableOptions`, those of files last.
 * @throws BadCall for a missing name, an unreadable file, or a sensitive value on the command line
 */
export function variableChanges(flags: VariableFlags): VariableEntry[] {
  checkInputs(flags);
  const marks = (flags.sensitive ?? []).filter((text) => !text.includes('='));
  const fromOptions = variableOptions.flatMap(([option, flag]) =>
    (flags[option] ?? [])
      .filter((text) => option !== 'sensitive' || text.includes('='))
      .map((text) => argumentOf(flag, text, settingsOf[option])),
  );
  const all = [...fromOptions, ...argumentsOfFiles(flags.varFile ?? [], fromOptions)];
  for (const mark of marks) checkMark(mark, all);
  return all.map(({ change }) => (marks.includes(change.name) ? { ...change, isSensitive: true } : change));
}
