/**
 * Tests that check the effect of each field.
 *
 * A test declares it by calling `covers` in its body, with literal names, so that the page can be generated
 * without running anything: `covers('createEnvironmentWithoutTemplate', 'body.ttl', 'body.name')`,
 * `covers('Environment', 'lifespanEndAt')`. The first name is an operation (fields then begin with `query.`,
 * `body.` or `reply.`; none: the operation as such) or a shape of the page below.
 */

import { operations } from '../operations.ts';
import type { Operation } from '../schema/operation.ts';
import {
  type DescribedField,
  fieldsOf,
  type JsonSchema,
  jsonSchemaOf,
  referredShape,
  shapesIn,
  typeText,
} from './describe-schema.ts';

/** Shapes that equal another one except that a field is required. */
const sameAs: Readonly<Record<string, string>> = {
  StartedDeployment: 'Deployment',
  CreatedEnvironment: 'Environment',
};

interface CoverageSubject {
  readonly name: string;
  readonly operation?: Operation;
  readonly fields: readonly DescribedField[];
}

/** The name of a shape on the page. @param title of its schema */
export function shapeName(title: string): string {
  return sameAs[title] ?? title;
}

function partFields(part: string, schema: Operation['params']): DescribedField[] {
  const whole = schema && jsonSchemaOf(schema);
  // Of a reply in several forms, the first.
  const json = whole?.anyOf?.[0] ?? whole;
  if (!json) return [];
  return referredShape(json)
    ? [{ path: part, schema: json, isRequired: true, description: '' }]
    : fieldsOf(json, `${part}.`);
}

function operationSubject(operation: Operation): CoverageSubject {
  const { name, query, body, reply } = operation;
  return {
    name,
    operation,
    fields: [...partFields('query', query), ...partFields('body', body), ...partFields('reply', reply)],
  };
}

const interfaceSubjects: readonly CoverageSubject[] = (Object.values(operations) as Operation[])
  .filter(({ inInterface }) => inInterface)
  .map(operationSubject);

function shapeSubjects(): CoverageSubject[] {
  const schemas: JsonSchema[] = interfaceSubjects.flatMap(({ fields }) => fields.map(({ schema }) => schema));
  const shapes = [...shapesIn(schemas)].filter(([title]) => !(title in sameAs));
  return shapes
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => ({ name, fields: fieldsOf(schema) }));
}

const subjects: readonly CoverageSubject[] = [...interfaceSubjects, ...shapeSubjects()];

/** @throws Error where the contract has no such operation, shape or field */
function check(subject: string, fields: readonly string[]): void {
  const found = subjects.find(({ name }) => name === subject);
  if (!found)
    throw new Error(
      `covers: "${subject}" is not an operation of the API or a shape of its bodies and replies`,
    );
  const unknown = fields.find((field) => !found.fields.some(({ path }) => path === field));
  if (unknown !== undefined) throw new Error(`covers: ${subject} has no field "${unknown}"`);
}

/**
 * Called in a test that checks the effect of some fields, with literal names: the test has to fail without them, which
 * `tools/claims` checks.
 * @param subject an operation of the interface, or a shape
 * @param fields its fields; none: the operation as such
 * @throws Error for a name that the contract does not have
 */
export function covers(subject: string, ...fields: string[]): void {
  check(subject, fields);
}

export interface Covered {
  readonly subject: string;
  /** Empty: the operation as such. */
  readonly field: string;
  readonly file: string;
  readonly test: string;
}

/**
 * Finds the calls of `covers` in a test file, with the title of the test that contains each.
 * @param file as the page shows it
 * @param source the text of the file
 * @throws Error for a call without literal names
 */
export function readCoverage(file: string, source: string): Covered[] {
  const titles = [...source.matchAll(/\b(?:it|test)\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g)];
  const calls = [...source.matchAll(/\bcovers\(\s*((?:'[^']*'\s*,?\s*)+)\)/g)];
  if (calls.length < (source.match(/\bcovers\(/g) ?? []).length)
    throw new Error(`${file}: covers takes literal names only`);
  return calls.flatMap((call) => {
    const [subject = '', ...fields] = [...(call[1] ?? '').matchAll(/'([^']*)'/g)].map(
      ([, name]) => name ?? '',
    );
    const title = titles.findLast(({ index }) => index < call.index)?.[2] ?? '';
    const test = title.replaceAll(/\\(.)/g, '$1');
    return (fields.length > 0 ? fields : ['']).map((field) => ({ subject, field, file, test }));
  });
}

function tests(testedBy: readonly Covered[], subject: string, field: string): string {
  const own = testedBy.filter((covered) => covered.subject === subject && covered.field === field);
  return [...new Set(own.map(({ file, test }) => `${file}: ${test}`))].join('<br>').replaceAll('|', '\\|');
}

function subjectTable({ name, operation, fields }: CoverageSubject, testedBy: readonly Covered[]): string[] {
  const title = operation
    ? `### ${operation.summary}\n\n\`${operation.method} ${operation.path}\` (${name})`
    : `### ${name}`;
  const row = ({ path, schema }: DescribedField) =>
    `| \`${path}\` | ${typeText(schema, shapeName).replaceAll('|', '\\|')} | ${tests(testedBy, name, path)} |`;
  const whole = operation ? [`| the operation | | ${tests(testedBy, name, '')} |`] : [];
  return [
    title,
    '',
    '| Field | Type | Tests of its effect |',
    '| --- | --- | --- |',
    ...whole,
    ...fields.map(row),
    '',
  ];
}

/**
 * The page of the interface's operations and their fields with the tests that check their effect, in Markdown.
 * @param testedBy what `readCoverage` found in all test files
 * @throws Error where a test names what the contract does not have
 */
export function coveragePage(testedBy: readonly Covered[]): string {
  for (const { subject, field, file } of testedBy) {
    try {
      check(subject, field === '' ? [] : [field]);
    } catch (error) {
      throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  const all = subjects.flatMap(({ name, fields }) => fields.map(({ path }) => ({ name, path })));
  const seen = all.filter(({ name, path }) =>
    testedBy.some((covered) => covered.subject === name && covered.field === path),
  );
  return [
    '# API coverage',
    '',
    'For some operations of the API and the shapes that they use, this page lists every field with the tests that check its *effect*. A field without',
    'a test is validated, stored and returned, but may have no effect yet. Generated from the contract and from the calls of `covers` in the tests.',
    '',
    `${interfaceSubjects.length} operations are listed; ${seen.length} of their ${all.length} fields have a test.`,
    '',
    '## Operations',
    '',
    ...interfaceSubjects.flatMap((subject) => subjectTable(subject, testedBy)),
    '## Shapes',
    '',
    ...subjects.filter(({ operation }) => !operation).flatMap((subject) => subjectTable(subject, testedBy)),
  ].join('\n');
}
