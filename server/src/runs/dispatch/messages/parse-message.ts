/**
 * Reads a message of an agent. The output of a tool can contain a NUL character, and half of a character that was
 * cut in two, which the database stores nowhere: a replacement character takes their place. Numbers that it cannot
 * store become texts of the same digits. Refused, such a message would be sent again and again.
 */

import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { ExactNumber, parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { storable } from '../../../ground/database/storable.ts';

/** Their form in JSON; text that only mentions such an escape is searched in vain. */
const unstorable = /\\u(?:0000|d[89a-f])/i;
/**
 * Before or after the point. PostgreSQL stores 131,072 and 16,383, and writes all of them whenever it is read: of a
 * number such as 1e9999, an agent could send a hundred thousand in one message.
 */
const mostDigits = 1_000;
/** Finds all numbers that may have more; each of them is then checked. */
const longNumber = /(?<!\d)\d{900}|\d[eE][+-]?\d{3}/;

function isStorable({ text }: ExactNumber): boolean {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  return whole.length + Number(exponent) <= mostDigits && fraction.length - Number(exponent) <= mostDigits;
}

function withoutUnstorable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (value instanceof ExactNumber) return isStorable(value) ? value : value.text;
  if (!isRecord(value) || Object.keys(value).every((name) => storable(name) === name)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storable(name), inner]));
}

/** @throws SyntaxError for text that is not JSON */
export function parseMessage(text: string): unknown {
  const isUnstorable = unstorable.test(text) || longNumber.test(text);
  return parseExactly(text, isUnstorable ? withoutUnstorable : undefined);
}

/** @returns a time that an agent wrote, as the database can store it; text that is not such a time is `now` */
export function timeOf(text: string, now: Date): Date {
  const time = new Date(text);
  return time.getTime() >= 0 && time.getUTCFullYear() <= 9999 ? time : now;
}

// Agents write their times themselves; a time that is not a time is not a reason to lose an outcome.
const ajv = new Ajv({ strict: false, allowUnionTypes: true, formats: { 'date-time': true } });

/** @returns a check that returns what is wrong with a message, or null */
export function checkMessage(schema: TSchema): (value: unknown) => string | null {
  let validate: ValidateFunction | undefined;
  return (value) => {
    // Compiled with the first message: a server without agents needs none of it.
    validate ??= ajv.compile(schema);
    if (validate(value)) return null;
    return `The message does not match the protocol: ${ajv.errorsText(validate.errors)}`;
  };
}
