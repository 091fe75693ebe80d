/** Values of parsed HCL that nothing has to be evaluated for: the only ones that reach a tool as JSON. */
import { isRecord } from '#contract/schema/is-record.ts';
import { isConstantTemplate, unescapeTemplate } from './constant-template.ts';

/** HCL that parses and that has no value here. The message quotes no part of it. */
export class NotConstant extends Error {
  override readonly name = 'NotConstant';
}

function constantOf(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!isConstantTemplate(value))
      throw new NotConstant(
        'an HCL value must be a constant: no references, functions, operators or parentheses',
      );
    return unescapeTemplate(value);
  }
  if (Array.isArray(value)) return value.map(constantOf);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [constantOf(key), constantOf(inner)]),
  );
}

/** @throws NotConstant if the body has anything besides the expression */
export function requireOneExpression(body: Readonly<Record<string, unknown>>): void {
  if (Object.keys(body).join() !== 'value') throw new NotConstant('an HCL value must be one expression');
}

/**
 * The value of an expression.
 * @param body of its file, as parsed
 * @throws NotConstant
 */
export function constantOfBody(body: Readonly<Record<string, unknown>>): unknown {
  requireOneExpression(body);
  return constantOf(body['value']);
}
