/**
 * Users' regular expressions, which must not block the service: with some values, an expression can take
 * forever.
 */
import { runInNewContext } from 'node:vm';

const longestMilliseconds = 100;

/**
 * @param regex an expression that compiles
 * @returns whether the whole expression is found in the value; null if that takes too long to find out
 */
export function matchesRegex(regex: string, value: string): boolean | null {
  try {
    return runInNewContext(
      'new RegExp(regex).test(value)',
      { regex, value },
      { timeout: longestMilliseconds },
    ) as boolean;
  } catch {
    return null;
  }
}
