/** Values of a plan for people, whatever the tool. */

import { isRecord } from '#contract/schema/is-record.ts';

/** Replaces a value that is sensitive. */
export const sensitiveText = '(sensitive)';

const longestTextCharacters = 16_384;

/** Truncates long texts of a masked value, noting their length: plans are read by people. */
export function withoutLongTexts<Value>(value: Value): Value {
  const cut = (part: unknown): unknown => {
    if (typeof part === 'string')
      return part.length <= longestTextCharacters
        ? part
        : `${part.slice(0, longestTextCharacters)}… (${part.length} characters)`;
    if (Array.isArray(part)) return part.map(cut);
    if (!isRecord(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, entry]) => [key, cut(entry)]));
  };
  return cut(value) as Value;
}
