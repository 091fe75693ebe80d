/** Rows and limits that the variables of all tools share. */
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { typeOfJson } from '#contract/schema/exact-json.ts';
import type { CommitTree } from '../git/commit-tree.ts';

/** The code of a template, which may declare variables. */
export interface DeclaringCode {
  readonly tree: CommitTree;
  /** Folder in the repository without slashes around it; empty: its root. */
  readonly path: string;
  /** The file of a CloudFormation template. */
  readonly fileName?: string | undefined;
  /** Aborted when reading has taken too long. */
  readonly signal: AbortSignal;
}

/** The files of the code cannot be understood; the message names the file. */
export class UnreadableCode extends Error {
  override readonly name = 'UnreadableCode';
}

const longestDescription = 255;

export interface VariableDeclaration {
  readonly name: string;
  readonly type: 0 | 1;
  /** Texts are values as they are; anything else is written as text or JSON. Absent: there is no default. */
  readonly value?: unknown;
  readonly description?: unknown;
  readonly isSensitive?: boolean;
  readonly isRequired?: boolean;
  /** A value of this variable is a list or a map. */
  readonly isComplex?: boolean;
  readonly choices?: readonly string[] | undefined;
  readonly regex?: string | undefined;
  /** As the code names it. */
  readonly valueType?: unknown;
  readonly isNullable?: boolean;
  readonly rules?: readonly string[];
}

/** As it can be stored: longer descriptions are refused there. */
function descriptionOf(text: unknown): { description?: string } {
  if (typeof text !== 'string' || text.trim() === '') return {};
  const plain = text.trim();
  return {
    description: plain.length > longestDescription ? `${plain.slice(0, longestDescription - 1)}…` : plain,
  };
}

/** Names that a variable of type 0 can have. */
export function isEnvironmentName(name: string): boolean {
  return name.length <= 255 && !/[=\p{Cc}]/u.test(name);
}

/** A pattern of a schema as a regular expression of ours; undefined where it is not one. */
export function regexOf(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string' || pattern === '') return undefined;
  try {
    return new RegExp(pattern).source === '' ? undefined : pattern;
  } catch {
    return undefined;
  }
}

/** A list of choices as texts; undefined where it has something else. */
export function choicesFrom(list: unknown): string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const values = list.filter((value) => value !== null);
  const isPlain = values.every((value) => ['string', 'number', 'boolean'].includes(typeOfJson(value)));
  return isPlain ? values.map(String) : undefined;
}

/** The type of a default, for code that declares no other. */
export function typeOfDefault(value: unknown): 'number' | 'boolean' | undefined {
  const type = typeOfJson(value);
  return type === 'number' || type === 'boolean' ? type : undefined;
}

function isStructure(value: unknown): boolean {
  return typeOfJson(value) === 'object' && value !== null;
}

/** Facts in the code about values, apart from choices. */
function limitsOf({
  valueType,
  isNullable,
  rules = [],
  regex,
}: VariableDeclaration): Partial<RepositoryVariable> {
  return {
    ...(regex === undefined ? {} : { regex }),
    ...(typeof valueType === 'string' && valueType !== '' ? { valueType } : {}),
    ...(isNullable === false ? { isNullable } : {}),
    ...(rules.length === 0 ? {} : { rules: [...rules] }),
  };
}

/** A variable as a row of the reply. */
export function rowOf(found: VariableDeclaration): RepositoryVariable {
  const { name, type, value, choices, isSensitive = false, isRequired = false } = found;
  const isJson = isStructure(value) || found.isComplex === true;
  const text = typeof value === 'string' && !isJson ? value : JSON.stringify(value);
  return {
    name,
    scope: 'BLUEPRINT',
    type,
    ...(value === undefined || value === null ? {} : { value: text }),
    ...descriptionOf(found.description),
    isSensitive,
    isRequired,
    ...limitsOf(found),
    schema: {
      type: 'string',
      ...(isJson ? { format: 'JSON' as const } : {}),
      ...(choices === undefined || choices.length === 0 || isJson ? {} : { enum: [...choices] }),
    },
  };
}
