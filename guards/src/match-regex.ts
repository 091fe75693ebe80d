/**
 * Users' regular expressions, which must not block the service: with some values, an expression never ends. All
 * expressions of a process share an allowance of time; when slow ones have used it up, it takes a while until an
 * expression may be slow again.
 */
import { createContext, Script } from 'node:vm';

const longestMilliseconds = 100;
/** What every expression gets, whatever others have used: common ones need a hundredth of it, also on a busy machine. */
const leastMilliseconds = 25;
const allowanceMilliseconds = 1000;
/** How much of the time that passes is added to the allowance. */
const regainedShare = 0.1;

const script = new Script('new RegExp(regex).test(value)');
/** One for all: to make one takes longer than to match. */
const context = createContext({ regex: '', value: '' });

let allowance = allowanceMilliseconds;
let updatedAt = 0;

/** @param used milliseconds since the last call that were spent on one expression */
function allow(used: number): number {
  const now = performance.now();
  const regained = (now - updatedAt) * regainedShare;
  updatedAt = now;
  const left = allowance + regained - Math.max(0, used - leastMilliseconds);
  allowance = Math.max(0, Math.min(allowanceMilliseconds, left));
  return Math.ceil(Math.max(leastMilliseconds, Math.min(longestMilliseconds, allowance)));
}

/**
 * @param regex an expression that compiles
 * @returns whether the whole expression is found in the value; null if that takes too long to find out
 */
export function matchesRegex(regex: string, value: string): boolean | null {
  const timeout = allow(0);
  const began = performance.now();
  Object.assign(context, { regex, value });
  try {
    return script.runInContext(context, { timeout }) as boolean;
  } catch {
    return null;
  } finally {
    Object.assign(context, { regex: '', value: '' });
    allow(performance.now() - began);
  }
}
