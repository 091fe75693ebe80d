/** The parameters of a stack: values from a file of the code and from variables. */
import { existsSync } from 'node:fs';
import type { GetTemplateSummaryOutput, Parameter } from '@aws-sdk/client-cloudformation';
import { parse } from 'yaml';
import { isRecord } from '#contract/schema/is-record.ts';
import { stackVariableNames } from '#protocol/tools/cloudformation/variables.ts';
import { type Api, StackProblem } from './api/api.ts';
import { readCode } from './api/code-files.ts';

export interface Parameters {
  readonly values: readonly Parameter[];
  /** Names of variables that the template has no parameter for. */
  readonly unknown: readonly string[];
  /** Hidden values. */
  readonly hidden: readonly string[];
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(text).join(',') : JSON.stringify(value);
}

/** Reads what the command line of AWS reads: a list of pairs, a map below `Parameters`, or a map. */
function readFile(file: string): Record<string, string> {
  const problem = (why: string) => new StackProblem(`${stackVariableNames.parametersFile}: ${file} ${why}`);
  const code = readCode(file);
  if (code === null) throw problem('is not in the folder of the configuration');
  let content: unknown;
  try {
    // Values are texts: numbers keep their digits, and zeros at their beginning.
    content = parse(code, { logLevel: 'silent', schema: 'failsafe' });
  } catch {
    // A parser's message may contain values.
    throw problem('is neither JSON nor YAML');
  }
  const found: Record<string, string> = Object.create(null);
  if (Array.isArray(content)) {
    for (const pair of content) {
      if (typeof pair === 'string' && pair.includes('=')) {
        found[pair.slice(0, pair.indexOf('='))] = pair.slice(pair.indexOf('=') + 1);
      } else if (
        isRecord(pair) &&
        typeof pair['ParameterKey'] === 'string' &&
        pair['ParameterValue'] !== undefined
      )
        found[pair['ParameterKey']] = text(pair['ParameterValue']);
      else throw problem('has an entry without ParameterKey or ParameterValue');
    }
    return found;
  }
  const map = isRecord(content) && isRecord(content['Parameters']) ? content['Parameters'] : content;
  if (!isRecord(map)) throw problem('must be a list of ParameterKey and ParameterValue, or a map');
  for (const [name, value] of Object.entries(map)) found[name] = text(value);
  return found;
}

/** Values of the file and of variables, by name; names such as `constructor` are not special. */
function valuesOf(
  { parameters }: Api['request'],
  ofFile: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  return Object.assign(Object.create(null) as Record<string, string>, ofFile, parameters);
}

/** Values of parameters, where no template says which there are. */
export function specifiedValues(request: Api['request']): Readonly<Record<string, string | undefined>> {
  const { parametersFile } = request;
  const hasFile = parametersFile !== null && existsSync(parametersFile);
  return valuesOf(request, hasFile ? readFile(parametersFile) : {});
}

/** @throws StackProblem that names parameters without a value, or those of a file that the template lacks */
export function parametersFor(
  { request }: Pick<Api, 'request'>,
  summary: GetTemplateSummaryOutput,
): Parameters {
  const declared = summary.Parameters ?? [];
  const names = new Set(declared.map(({ ParameterKey }) => ParameterKey ?? ''));
  const ofFile = request.parametersFile === null ? {} : readFile(request.parametersFile);
  const strange = Object.keys(ofFile).filter((name) => !names.has(name));
  if (strange.length > 0)
    throw new StackProblem(
      `${stackVariableNames.parametersFile}: the template has no parameters named ${strange.join(', ')}: ` +
        `remove them from ${request.parametersFile}`,
    );
  const specified = valuesOf(request, ofFile);
  const missing = declared
    .filter(
      ({ ParameterKey = '', DefaultValue }) =>
        DefaultValue === undefined && specified[ParameterKey] === undefined,
    )
    .map(({ ParameterKey = '' }) => ParameterKey);
  if (missing.length > 0) {
    const variables =
      missing.length === 1 ? 'a variable of type 1 with this name' : 'variables of type 1 with these names';
    throw new StackProblem(
      `the template needs a value for ${missing.join(', ')}: add ${variables}, ` +
        `or ${stackVariableNames.parameterPrefix}${missing[0]}`,
    );
  }
  return {
    values: declared.flatMap(({ ParameterKey = '' }) => {
      const value = specified[ParameterKey];
      return value === undefined ? [] : [{ ParameterKey, ParameterValue: value }];
    }),
    unknown: Object.keys(request.parameters).filter((name) => !names.has(name)),
    hidden: declared.flatMap(({ ParameterKey = '', NoEcho, DefaultValue }) =>
      NoEcho === true ? [specified[ParameterKey] ?? DefaultValue ?? ''].filter((value) => value !== '') : [],
    ),
  };
}
