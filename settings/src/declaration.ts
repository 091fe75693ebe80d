/**
 * Declaration and reading of settings: every setting is one value, in the table of each program that reads it.
 */
import { readFileSync } from 'node:fs';
import type { SettingType } from './types.ts';

export interface Setting<Value = unknown> {
  readonly name: string;
  readonly type: SettingType<NonNullable<Value>>;
  /** In the notation of users; undefined: not set by default. */
  readonly default: string | undefined;
  readonly sentence: string;
  /** Also read from the file that `<name>_FILE` names. */
  readonly orFile: boolean;
}

export type SettingTable = Readonly<Record<string, Setting>>;
export type ValuesOf<Table extends SettingTable> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer Value> ? Value : never;
};
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** A setting that is not declared, or whose value is malformed. `problems` has one sentence each. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

interface SettingDeclaration<Value> {
  readonly name: string;
  readonly type: SettingType<Value>;
  readonly sentence: string;
  readonly default?: string;
  readonly orFile?: boolean;
}

export function setting<Value>(
  declaration: SettingDeclaration<Value> & { readonly default: string },
): Setting<Value>;
export function setting<Value>(declaration: SettingDeclaration<Value>): Setting<Value | undefined>;
export function setting<Value>(declaration: SettingDeclaration<Value>): Setting<Value | undefined> {
  return { orFile: false, default: undefined, ...declaration } as Setting<Value | undefined>;
}

/** The names under which a setting can be set. */
export function namesOf(one: Setting): string[] {
  return one.orFile ? [one.name, `${one.name}_FILE`] : [one.name];
}

/**
 * Reads a table's settings; an empty value counts as not set.
 * @param table the settings that the program reads
 * @param environment where the values come from
 * @param declaredNames every name that any of our programs declares
 * @throws SettingsError with one sentence for each unknown `ENVARIUM_` name and each malformed value
 */
export function readTable<Table extends SettingTable>(
  table: Table,
  environment: ProcessEnvironment,
  declaredNames: ReadonlySet<string>,
): ValuesOf<Table> {
  const problems = unknownNames(environment, declaredNames);
  const values: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(table)) {
    try {
      values[key] = readSetting(one, environment);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return values as ValuesOf<Table>;
}

/**
 * The environment that passes values on to another program with the same settings; settings without a value
 * are left out.
 */
export function environmentOf<Table extends SettingTable>(
  table: Table,
  values: ValuesOf<Table>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([key, { name, type }]) => {
      const value: unknown = values[key];
      return value === undefined || value === null ? [] : [[name, type.write(value)]];
    }),
  );
}

function unknownNames(environment: ProcessEnvironment, declaredNames: ReadonlySet<string>): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('ENVARIUM_') && !declaredNames.has(name))
    .sort()
    .map(
      (name) =>
        `${name} is not a setting of Envarium; docs/operate/settings.md lists all of them. Correct the name or unset it.`,
    );
}

function readSetting(one: Setting, environment: ProcessEnvironment): unknown {
  const specified = specifiedText(one, environment);
  const text = specified ?? one.default;
  if (text === undefined) return undefined;
  const value = one.type.read(text);
  if (value !== undefined) return value;
  const actual = one.type.isSecret ? '' : `, not ${JSON.stringify(text)}`;
  throw new SettingsError([`${one.name} must be ${one.type.allowed}${actual}.`]);
}

function specifiedText(one: Setting, environment: ProcessEnvironment): string | undefined {
  const direct = environment[one.name] || undefined;
  const file = one.orFile ? environment[`${one.name}_FILE`] || undefined : undefined;
  if (file === undefined) return direct;
  if (direct !== undefined)
    throw new SettingsError([`${one.name} and ${one.name}_FILE are both set; unset one of them.`]);
  return textOfFile(`${one.name}_FILE`, file);
}

function textOfFile(name: string, file: string): string {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new SettingsError([`${name} names ${file}, which cannot be read: ${(error as Error).message}.`]);
  }
  if (content === '') throw new SettingsError([`${name} names ${file}, which is empty.`]);
  return content;
}
