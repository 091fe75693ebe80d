/** Lifetimes of policies as people write them: `12h`, `3d`, `2w`, `1M`. */
import { BadCall } from '../../session/exit-codes.ts';

/**
 * A lifetime in the service's notation; null: `infinite`.
 * @param flag the option, as messages call it
 * @param words further values that are accepted as they are, such as `inherit`
 * @throws BadCall for any other text
 */
export function policyTtl(
  flag: string,
  text: string | undefined,
  words: readonly string[] = [],
): string | null | undefined {
  if (text === undefined || words.includes(text)) return text;
  if (text === 'infinite') return null;
  const [, number, unit] = /^([1-9]\d{0,5})-?([hdwM])$/.exec(text) ?? [];
  if (number === undefined)
    throw new BadCall(
      `${flag} must be hours, days, weeks or months such as 12h, 3d, 2w or 1M, or ${['infinite', ...words].join(' or ')}, not "${text}".`,
    );
  return `${number}-${unit}`;
}
