/** Variables on the command line: plain ones as `name=value`; sensitive ones from a file, as others see command lines. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { gather } from './command-line.ts';
import { BadCall } from './exit-codes.ts';

export interface VariableFlags {
  readonly var?: readonly string[];
  readonly envVar?: readonly string[];
  readonly sensitiveVar?: readonly string[];
  readonly sensitiveEnvVar?: readonly string[];
  readonly hclVar?: readonly string[];
  readonly jsonVar?: readonly string[];
}

export interface VariableChange {
  readonly name: string;
  readonly value: string;
  readonly type: 0 | 1;
  readonly isSensitive?: true;
  readonly schema?: { readonly type: 'string'; readonly format: 'HCL' | 'JSON' };
}

export function withVariableFlags(command: Command): Command {
  return command
    .option('--var <name=value>', 'terraform variable; may be repeated', gather)
    .option(
      '--hcl-var <name=value>',
      'terraform variable with a value in HCL, such as ports=[80, 443]',
      gather,
    )
    .option('--json-var <name=value>', 'terraform variable with a value in JSON', gather)
    .option('--env-var <name=value>', 'environment variable of the tool; may be repeated', gather)
    .option(
      '--sensitive-var <name=@file>',
      'sensitive terraform variable, read from a file, or from standard input with @-',
      gather,
    )
    .option(
      '--sensitive-env-var <name=@file>',
      'sensitive environment variable, read in the same way',
      gather,
    );
}

function split(flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  // The value may be a secret, and is not repeated.
  throw new BadCall(`${flag} must have the form name=value.`);
}

function readSensitive(flag: string, text: string): [name: string, value: string] {
  const [name, source] = split(flag, text);
  if (!source.startsWith('@') || source === '@')
    throw new BadCall(
      `${flag} ${name} must be read from a file: use ${name}=@file, or ${name}=@- for standard input.`,
    );
  const file = source.slice(1);
  try {
    return [name, readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '')];
  } catch (error) {
    throw new BadCall(
      `${flag} ${name}: ${file === '-' ? 'standard input' : file} cannot be read: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

/** The specified variables as changes of a request. @throws BadCall for a missing name or an unreadable file */
export function variableChanges(flags: VariableFlags): VariableChange[] {
  const plain = (flag: string, type: 0 | 1, texts: readonly string[] = []) =>
    texts.map((text): VariableChange => {
      const [name, value] = split(flag, text);
      return { name, value, type };
    });
  const sensitive = (flag: string, type: 0 | 1, texts: readonly string[] = []) =>
    texts.map((text): VariableChange => {
      const [name, value] = readSensitive(flag, text);
      return { name, value, type, isSensitive: true };
    });
  const structured = (flag: string, format: 'HCL' | 'JSON', texts: readonly string[] = []) =>
    plain(flag, 1, texts).map(
      (change): VariableChange => ({ ...change, schema: { type: 'string', format } }),
    );
  const all = [flags.sensitiveVar, flags.sensitiveEnvVar].flat().filter((text) => text?.endsWith('=@-'));
  if (all.length > 1)
    throw new BadCall(
      'Only one sensitive variable can be read from standard input: use files for the others.',
    );
  return [
    ...plain('--var', 1, flags.var),
    ...plain('--env-var', 0, flags.envVar),
    ...structured('--hcl-var', 'HCL', flags.hclVar),
    ...structured('--json-var', 'JSON', flags.jsonVar),
    ...sensitive('--sensitive-var', 1, flags.sensitiveVar),
    ...sensitive('--sensitive-env-var', 0, flags.sensitiveEnvVar),
  ];
}
