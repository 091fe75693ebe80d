/**
 * Checks what arrived against an operation's schemas: bodies strictly, path and query with conversion because
 * they arrive as text. Unknown query parameters are ignored with a warning.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formatsModule from 'ajv-formats';
import type { TSchema } from 'typebox';
import { emptyFieldsOf } from '#contract/schema/empty-fields.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { listMark } from '#contract/schema/schema.ts';
import { Refusal } from '../../ground/errors.ts';

/** The format accepts leap seconds and bare hours as time zones, which `Date` does not read. */
function addFormats(ajv: Ajv): void {
  formatsModule.default(ajv);
  const { validate } = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  const isTime = (text: string) => validate(text) && !Number.isNaN(Date.parse(text));
  ajv.addFormat('date-time', isTime);
}

const strictAjv = new Ajv({
  allErrors: false,
  coerceTypes: false,
  allowUnionTypes: true,
  strict: false,
  verbose: true,
});
const convertingAjv = new Ajv({
  allErrors: false,
  coerceTypes: true,
  allowUnionTypes: true,
  strict: false,
  verbose: true,
});
addFormats(strictAjv);
addFormats(convertingAjv);

/** More unknown fields than this are a mistake, not an older client, and are refused. */
const mostIgnored = 200;

type RequestPart = 'body' | 'params' | 'query';

/** One sentence about the first thing that is wrong, in the style of Ajv: `/body/name must be string`. */
function sentence(part: RequestPart, error: ErrorObject): string {
  const where = `/${part}${error.instancePath}`;
  const params = error.params as Record<string, unknown>;
  if (error.keyword === 'additionalProperties')
    return `${where}/${String(params.additionalProperty)} is not a field of this operation`;
  if (error.keyword === 'required') return `${where}/${String(params.missingProperty)} is required`;
  if (error.keyword === 'enum')
    return `${where} must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`;
  const { description } = (error.parentSchema ?? {}) as { description?: string };
  if (error.keyword === 'pattern' && description) return `${where} ${error.message} (${description})`;
  return `${where} ${error.message ?? 'is not valid'}`;
}

/** Whole numbers in a path or query arrive as text, and Ajv converts every form that JavaScript reads. */
const wholeNumber = /^-?(0|[1-9]\d*)$/;

/** Names of the parameters that are whole numbers. */
function wholeNumbersOf(schema: TSchema | undefined): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { type?: unknown }> };
  return Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
}

/** Of the errors of alternatives, the one that lies deepest says most. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject {
  const depth = (error: ErrorObject) =>
    error.instancePath.split('/').length + (error.keyword === 'additionalProperties' ? 0.5 : 0);
  const [first, ...rest] = errors.filter((error) => error.keyword !== 'anyOf' && error.keyword !== 'oneOf');
  return rest.reduce(
    (best, error) => (depth(error) > depth(best) ? error : best),
    first ?? (errors[0] as ErrorObject),
  );
}

export interface PartCheckers {
  /** @throws Refusal 400 that names the field */
  params(value: unknown): void;
  query(value: unknown): void;
  /**
   * Resolves fields without a value, in place, and checks the others.
   * @returns the names of fields that were dropped because unknown ones are ignored
   */
  body(value: unknown): string[];
}

/** Made at the first use, as the checks are. */
function resolverOf(schema: TSchema | undefined): (body: unknown) => void {
  let resolve: ((body: unknown) => void) | undefined;
  return (body) => (resolve ??= schema ? emptyFieldsOf(schema) : () => {})(body);
}

/** Compiles at the first use: all schemas together take a third of a second, which each start would wait for. */
function compile(ajv: Ajv, schema: TSchema | undefined): (() => ValidateFunction) | null {
  let compiled: ValidateFunction | undefined;
  return schema ? () => (compiled ??= ajv.compile(schema)) : null;
}

/** Position of an unknown field, as path and key. */
function dropUnknown(value: unknown, error: ErrorObject): string {
  const key = String((error.params as { additionalProperty: string }).additionalProperty);
  const parent = error.instancePath
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (at, step) => (at as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      value,
    );
  delete (parent as Record<string, unknown>)[key];
  return `${error.instancePath}/${key}`.slice(1).replaceAll('/', '.');
}

/**
 * The checks of one operation.
 * @param unknownFields `refuse`: an unknown body field is a 400; `ignore`: it is dropped and listed
 */
export function partCheckers(operation: Operation, unknownFields: 'refuse' | 'ignore'): PartCheckers {
  const params = compile(convertingAjv, operation.params);
  const query = compile(convertingAjv, operation.query);
  const body = compile(strictAjv, operation.body);
  const resolveEmptyFields = resolverOf(operation.body);
  const check = (part: RequestPart, compiled: (() => ValidateFunction) | null, value: unknown) => {
    const validate = compiled?.();
    if (validate && !validate(value))
      throw new Refusal('bad_request', sentence(part, mostTelling(validate.errors ?? [])));
  };
  const wholeNumbers = wholeNumbersOf(operation.query);
  return {
    params: (value) => check('params', params, value),
    query(value) {
      const texts = value as Readonly<Record<string, unknown>>;
      for (const name of wholeNumbers)
        if (typeof texts[name] === 'string' && !wholeNumber.test(texts[name]))
          throw new Refusal('bad_request', `/query/${name} must be a whole number`);
      check('query', query, value);
    },
    body(value) {
      const ignored: string[] = [];
      resolveEmptyFields(value);
      const validate = body?.();
      while (unknownFields === 'ignore' && ignored.length < mostIgnored && validate && !validate(value)) {
        const unknown = validate.errors?.find((error) => error.keyword === 'additionalProperties');
        if (!unknown) break;
        ignored.push(dropUnknown(value, unknown));
      }
      check('body', body, value);
      return ignored;
    },
  };
}

function listsOf({ query }: Operation): string[] {
  const { properties = {} } = (query ?? {}) as { properties?: Record<string, { [listMark]?: true }> };
  return Object.keys(properties).filter((name) => properties[name]?.[listMark]);
}

/**
 * Gives each list of a query its form with commas: clients also send several parameters, whose names may end in `[]`.
 */
export function joinLists(operation: Operation): (query: Record<string, unknown>) => void {
  const names = listsOf(operation);
  return (query) => {
    for (const name of names) {
      const several = `${name}[]`;
      if (!Array.isArray(query[name]) && query[several] === undefined) continue;
      const texts = [query[name], query[several]].flat().filter((value) => typeof value === 'string');
      query[name] = texts.join(',');
      delete query[several];
    }
  };
}

/** Limits of a header: names, and characters of each. */
const mostNames = 20;
const longestName = 80;

/** @returns a sentence that names them; null where the operation has all of them */
export function unknownParameters({ query: schema }: Operation, query: object): string | null {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return null;
  const shown = unknown.slice(0, mostNames).map((name) => `"${name.slice(0, longestName)}"`);
  const more = unknown.length > mostNames ? ` and ${unknown.length - mostNames} more` : '';
  const [are, were] =
    unknown.length === 1 ? ['is not a query parameter', 'was'] : ['are not query parameters', 'were'];
  return `${shown.join(', ')}${more} ${are} of this operation and ${were} ignored.`;
}
