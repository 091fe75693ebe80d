/** For tests: a template of CloudFormation, with the intrinsic functions that the tests use. */
import { type CollectionTag, parse, type ScalarTag } from 'yaml';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { AwsError } from './error.ts';

export interface DeclaredParameter {
  readonly name: string;
  readonly type: string;
  readonly default: string | undefined;
  readonly isHidden: boolean;
}

export interface DeclaredResource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly dependsOn: readonly string[];
  readonly deletionPolicy: string;
}

export interface Template {
  readonly body: string;
  readonly description: string | undefined;
  readonly parameters: readonly DeclaredParameter[];
  readonly resources: readonly DeclaredResource[];
  readonly outputs: Readonly<Record<string, unknown>>;
}

const functions = ['Ref', 'GetAtt', 'Sub', 'Join', 'Select', 'Split', 'Base64', 'ImportValue', 'Condition'];

/** The short forms, such as `!Ref x`, as their long ones. */
const shortForms: (ScalarTag | CollectionTag)[] = functions.flatMap((name) => {
  const key = name === 'Ref' || name === 'Condition' ? name : `Fn::${name}`;
  const scalar: ScalarTag = {
    tag: `!${name}`,
    resolve: (text: string) => ({ [key]: name === 'GetAtt' ? text.split('.') : text }),
  };
  const list: CollectionTag = {
    tag: `!${name}`,
    collection: 'seq',
    resolve: (sequence) => ({ [key]: (sequence as { toJSON(): unknown }).toJSON() }) as never,
  };
  return [scalar, list];
});

/** Every name that a value refers to: resources, parameters and pseudo parameters. */
export function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, entry]) => {
    if (key === 'Ref') return [String(entry)];
    if (key === 'Fn::GetAtt') return [String(Array.isArray(entry) ? entry[0] : String(entry).split('.')[0])];
    if (key === 'Fn::Sub') {
      const text = String(Array.isArray(entry) ? entry[0] : entry);
      return [...text.matchAll(/\$\{([A-Za-z0-9:]+)[^}]*\}/g)].map(([, name = '']) => name);
    }
    return namesIn(entry);
  });
}

function validation(message: string): AwsError {
  return new AwsError('ValidationError', message);
}

/** @throws AwsError as AWS answers for a template that does not validate */
export function parseTemplate(body: string): Template {
  let root: unknown;
  try {
    root = parse(body, { customTags: shortForms, logLevel: 'error' });
  } catch (error) {
    throw validation(
      `Template format error: YAML not well-formed. (${(error as Error).message.split('\n')[0]})`,
    );
  }
  if (!isRecord(root)) throw validation('Template format error: unsupported structure.');
  const resources = recordOf(root['Resources']);
  if (Object.keys(resources).length === 0)
    throw validation('Template format error: At least one Resources member must be defined.');
  const template: Template = {
    body,
    description: typeof root['Description'] === 'string' ? root['Description'] : undefined,
    parameters: Object.entries(recordOf(root['Parameters'])).map(([name, each]) =>
      parameterOf(name, recordOf(each)),
    ),
    resources: Object.entries(resources).map(([id, each]) => resourceOf(id, recordOf(each))),
    outputs: Object.fromEntries(
      Object.entries(recordOf(root['Outputs'])).map(([name, each]) => [name, recordOf(each)['Value']]),
    ),
  };
  checkNames(template);
  return template;
}

/** Numbers are written as AWS takes parameters: as text. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parameterOf(name: string, declared: Record<string, unknown>): DeclaredParameter {
  return {
    name,
    type: textOf(declared['Type']) ?? 'String',
    default: textOf(declared['Default']),
    isHidden: declared['NoEcho'] === true || declared['NoEcho'] === 'true',
  };
}

function resourceOf(logicalId: string, declared: Record<string, unknown>): DeclaredResource {
  const type = declared['Type'];
  if (typeof type !== 'string')
    throw validation(
      `Template format error: [/Resources/${logicalId}] Every Resources object must contain a Type member.`,
    );
  const properties = recordOf(declared['Properties']);
  const explicit = [declared['DependsOn']].flat().filter((name) => typeof name === 'string');
  return {
    logicalId,
    type,
    properties,
    dependsOn: [...explicit, ...namesIn(properties)],
    deletionPolicy: textOf(declared['DeletionPolicy']) ?? 'Delete',
  };
}

function checkNames({ parameters, resources, outputs }: Template): void {
  const known = new Set([
    ...parameters.map(({ name }) => name),
    ...resources.map(({ logicalId }) => logicalId),
  ]);
  const used = [...resources.flatMap(({ dependsOn }) => dependsOn), ...namesIn(outputs)];
  const unresolved = used.filter((name) => !known.has(name) && !name.startsWith('AWS::'));
  if (unresolved.length > 0)
    throw validation(
      `Template format error: Unresolved resource dependencies [${[...new Set(unresolved)].join(', ')}] in the Resources block of the template`,
    );
}

/** Meaning of names while a stack is in progress. */
export interface Scope {
  ref(name: string): unknown;
  attribute(name: string, attribute: string): unknown;
}

/** A value with its functions replaced by what they return. */
export function evaluate(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((entry) => evaluate(entry, scope));
  if (!isRecord(value)) return value;
  const [[key, argument] = ['', undefined]] = Object.entries(value);
  switch (key) {
    case 'Ref':
      return scope.ref(String(argument));
    case 'Fn::GetAtt': {
      const [name = '', ...rest] = Array.isArray(argument)
        ? argument.map(String)
        : String(argument).split('.');
      return scope.attribute(name, rest.join('.'));
    }
    case 'Fn::Sub':
      return String(argument).replaceAll(
        /\$\{([A-Za-z0-9:]+)(?:\.([A-Za-z.]+))?\}/g,
        (_, name: string, attribute?: string) =>
          String(attribute === undefined ? scope.ref(name) : scope.attribute(name, attribute)),
      );
    case 'Fn::Join': {
      const [separator, parts] = argument as [string, unknown[]];
      return (evaluate(parts, scope) as unknown[]).map(String).join(separator);
    }
    default:
      return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, evaluate(entry, scope)]));
  }
}

/** Resources in an order in which each follows what it needs. @throws AwsError for a circle */
export function inOrder(resources: readonly DeclaredResource[]): DeclaredResource[] {
  const byId = new Map(resources.map((each) => [each.logicalId, each]));
  const done = new Set<string>();
  const found: DeclaredResource[] = [];
  const visit = (each: DeclaredResource, path: readonly string[]) => {
    if (done.has(each.logicalId)) return;
    if (path.includes(each.logicalId))
      throw validation(`Circular dependency between resources: [${path.join(', ')}]`);
    for (const name of each.dependsOn) {
      const needed = byId.get(name);
      if (needed !== undefined) visit(needed, [...path, each.logicalId]);
    }
    done.add(each.logicalId);
    found.push(each);
  };
  for (const each of resources) visit(each, []);
  return found;
}
