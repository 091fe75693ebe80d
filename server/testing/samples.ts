/**
 * One entity of each kind, and a well-formed request of every operation about them: what tests send that try
 * all operations. A file per family in `samples/` makes its entities; bodies follow from the schemas.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonSchema, jsonSchemaOf, typesOf } from '#contract/documents/describe-schema.ts';
import type { OperationName } from '#contract/operations.ts';
import type { Operation, Subject } from '#contract/schema/operation.ts';
import type { TestApp } from './app.ts';
import type { CallInput, Reply } from './client.ts';

export interface Sample {
  /** Id by entity. */
  readonly ids: Readonly<Record<string, string>>;
  /** Bodies by operation, where the least that its schema accepts would be refused. */
  readonly bodies?: Readonly<Partial<Record<OperationName, unknown>>>;
  /** Parameters by operation that it requires in addition to those that say what it is about. */
  readonly queries?: Readonly<Partial<Record<OperationName, Readonly<Record<string, string>>>>>;
}

/** @param environment made for the test */
export type MakeSample = (
  app: TestApp,
  environment: Reply<'createEnvironmentWithoutTemplate'>,
) => Sample | Promise<Sample>;

/**
 * File that acts on a field that only bodies of this family have: not one that only stores or shows it; null: people
 * only read it.
 */
export type FieldEffects = Readonly<Record<string, string | null>>;

/** The files in `samples/`. */
export async function readSamples(): Promise<readonly { sample: MakeSample; effects?: FieldEffects }[]> {
  const folder = join(import.meta.dirname, 'samples');
  return Promise.all(
    readdirSync(folder)
      .sort()
      .map((file) => import(join(folder, file)) as Promise<{ sample: MakeSample; effects?: FieldEffects }>),
  );
}

export function subjectsOf(operation: Operation): readonly Subject[] {
  return [operation.subject ?? []].flat() as Subject[];
}

/** The least value that fits a schema. */
export function leastValue(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return leastValue(schema.anyOf[0]);
  const [type] = typesOf(schema);
  if (type === 'object')
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, leastValue(schema.properties?.[name] ?? {})]),
    );
  if (type === 'array') return [];
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
  return type === 'string' ? 'x'.repeat(schema.minLength ?? 1) : null;
}

/** Parts of the path that no right is about. */
function unknownParams({ path }: Operation): Record<string, string> {
  return Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, 'none']));
}

/**
 * Subjects in requests: candidates with their own rights exclude each other.
 * @returns the subjects of each form of a request
 */
export function alternativesOf(operation: Operation): readonly (readonly Subject[])[] {
  const subjects = subjectsOf(operation);
  return subjects.some(({ needs }) => needs !== undefined) ? subjects.map((each) => [each]) : [subjects];
}

/** A body that is a text or an array has no fields. */
function bodyOf(least: unknown, sample: unknown, named: Readonly<Record<string, string>>): unknown {
  if (typeof least === 'string' || Array.isArray(least)) return sample ?? least;
  return { ...(least as object), ...(sample as object), ...named };
}

/**
 * Makes the entities.
 * @returns the request of an operation about them (of several forms, the one with that number), and their ids
 */
export async function makeSamples(
  app: TestApp,
  environment: Reply<'createEnvironmentWithoutTemplate'>,
): Promise<Required<Sample> & { requestOf(operation: Operation, alternative?: number): CallInput }> {
  const ids: Record<string, string> = {};
  const bodies: Partial<Record<string, unknown>> = {};
  const queries: Partial<Record<string, Readonly<Record<string, string>>>> = {};
  for (const { sample } of await readSamples()) {
    const made = await sample(app, environment);
    Object.assign(ids, made.ids);
    Object.assign(bodies, made.bodies);
    Object.assign(queries, made.queries);
  }
  return {
    ids,
    bodies,
    queries,
    requestOf(operation, alternative = 0) {
      const named = (part: Subject['in']) =>
        Object.fromEntries(
          (alternativesOf(operation)[alternative] ?? [])
            .filter((subject) => subject.in === part)
            .map(({ field, entity }) => [field, ids[entity] ?? '']),
        );
      const isJson = operation.body && operation.bodyKind !== 'binary';
      const least = operation.body && leastValue(jsonSchemaOf(operation.body));
      return {
        params: {
          ...unknownParams(operation),
          name: 'tf:plan',
          userId: ids['user'] ?? '',
          ...named('params'),
        },
        query: { ...queries[operation.name], ...named('query') },
        ...(isJson ? { body: bodyOf(least, bodies[operation.name], named('body')) } : {}),
      };
    },
  };
}
