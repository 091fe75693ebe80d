/** Form of a value of a plan: sealed, not known yet, short, or a long text. */
import { parseExactly } from '#contract/schema/exact-json.ts';

/** Placeholder of agents for hidden values. */
const sensitiveText = '(sensitive)';
/** Placeholder of agents for values that the tool knows only once it has applied the plan. */
const unknownText = '(known after apply)';

const longestLine = 120;

export type ShownValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'sealed' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'text'; readonly text: string; readonly isText: boolean; readonly isLong: boolean };

/** Texts that are JSON documents, such as policies, are compared line by line. */
function prettyText(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 2_000_000) return text;
  try {
    return JSON.stringify(parseExactly(text), null, 2);
  } catch {
    return text;
  }
}

function isLongText(text: string): boolean {
  return text.length > longestLine || text.includes('\n');
}

/** Short lists and maps take one line. */
function jsonText(value: unknown, isLaidOut: boolean): string {
  const line = JSON.stringify(value) ?? 'null';
  return line.length <= 72 && !isLaidOut ? line : JSON.stringify(value, null, 2);
}

/**
 * @param value undefined: the attribute has none on this side
 * @param isLaidOut whether lists and maps get lines even if they are short
 */
export function shownValue(value: unknown, isLaidOut = false): ShownValue {
  if (value === undefined || value === null) return { kind: 'none' };
  if (value === sensitiveText) return { kind: 'sealed' };
  if (value === unknownText) return { kind: 'unknown' };
  const isText = typeof value === 'string';
  const text = isText ? prettyText(value) : jsonText(value, isLaidOut);
  return { kind: 'text', text, isText, isLong: isLongText(text) };
}

/** Both sides of an attribute, laid out alike so that they can be compared. */
export function shownSides(before: unknown, after: unknown): readonly [ShownValue, ShownValue] {
  const sides = [shownValue(before), shownValue(after)] as const;
  return isDifference(...sides) ? [shownValue(before, true), shownValue(after, true)] : sides;
}

/** Whether both sides are better read as the difference of two texts than side by side. */
export function isDifference(before: ShownValue, after: ShownValue): boolean {
  if (before.kind !== 'text' || after.kind !== 'text') return false;
  return before.isLong || after.isLong;
}

const units = ['characters', 'thousand characters', 'million characters'];

/** Such as "1.2 million characters". */
export function lengthText(characters: number): string {
  const power = characters < 10_000 ? 0 : characters < 1_000_000 ? 1 : 2;
  const number = characters / 1000 ** power;
  return `${power === 2 ? number.toFixed(1) : Math.round(number)} ${units[power]}`;
}

/** Length of a long text that is shown at first. */
const previewCharacters = 2000;
const previewLines = 24;

/** The beginning of a long text; the text itself where it is all of it. */
export function previewOf(text: string): string {
  let end = -1;
  for (let line = 0; line < previewLines; line++) {
    end = text.indexOf('\n', end + 1);
    if (end === -1 || end > previewCharacters) return text.slice(0, previewCharacters);
  }
  return text.slice(0, end);
}
