/**
 * Holds replies against the contract, more strictly than clients have to: a field that the contract does
 * not have is an error too.
 */
import assert from 'node:assert/strict';
import { Ajv, type ValidateFunction } from 'ajv';
import formatsModule from 'ajv-formats';
import type { TSchema } from 'typebox';
import { ErrorBody } from '#contract/schema/errors.ts';
import type { Operation } from '#contract/schema/operation.ts';

const ajv = new Ajv({ strict: false, allErrors: true, allowUnionTypes: true });
formatsModule.default(ajv);
const compiled = new Map<TSchema, ValidateFunction>();

/** The same schema with every object closed against fields that it does not list. */
function closedCopy(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedCopy);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedCopy(value)]));
  return 'properties' in copy && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

function checkAgainst(schema: TSchema, value: unknown, what: string): void {
  const validate =
    compiled.get(schema) ?? ajv.compile(closedCopy(JSON.parse(JSON.stringify(schema))) as object);
  compiled.set(schema, validate);
  if (validate(value)) return;
  const errors = (validate.errors ?? []).map(
    (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
  );
  assert.fail(`${what} does not fit the contract:\n${errors.join('\n')}\n${JSON.stringify(value, null, 2)}`);
}

/**
 * Fails for a reply that the operation does not declare. Replies with fields excluded by the query are not
 * checked.
 */
export function checkReply(
  operation: Operation,
  query: Readonly<Record<string, unknown>> | undefined,
  status: number,
  body: unknown,
): void {
  if (status >= 400) return checkAgainst(ErrorBody, body, `The refusal of ${operation.name}`);
  assert.equal(status, 200, `${operation.name} answers 200`);
  const isPart = operation.projectedBy?.some((name) => query?.[name] !== undefined);
  if (!isPart) checkAgainst(operation.reply, body, `The reply of ${operation.name}`);
}

/** Fails for a value that does not fit a schema. */
export function checkValue(schema: TSchema, value: unknown, what: string): void {
  checkAgainst(schema, value, what);
}
