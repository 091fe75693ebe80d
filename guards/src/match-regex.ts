/**
 * Users' regular expressions, which must not hold the service up: an expression can take for ever on a value
 * that it does not like.
 */
import { runInNewContext } from 'node:vm';

const longestMilliseconds = 100;

/**
 * @param regex an expression that compiles
 * @returns whether the whole expression is found in the value; null where finding out takes too long
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
