/**
 * Users' regular expressions, which must not block the service: with some values, an expression never ends. All
 * expressions of a process share an allowance of time; when slow ones have used it up, it takes a while until an
 * expression may be slow again.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';

const longestMilliseconds = 100;
/**
 * Minimum time for every expression, whatever others have used: common ones need a hundredth of it, even on a
 * busy machine.
 */
const leastMilliseconds = 25;
/** Time that does not count against the allowance. */
const freeMilliseconds = 5;
const allowanceMilliseconds = 1000;
/** Of an expression that had less than half of its time because the machine was busy. */
const mostRepetitions = 5;
/** Share of the elapsed time that is added to the allowance. */
const regainedShare = 0.1;
/** Of one turn of the event loop: longer than all but slow expressions take, and too short for others to notice. */
const turnMilliseconds = 10;

const script = new Script('new RegExp(regex).test(value)');
/** One for all: to make one takes longer than to match. */
const context = createContext({ regex: '', value: '' });

let allowance = allowanceMilliseconds;
let updatedAt = 0;
let usedInTurn = 0;
let nextTurn: Promise<void> | undefined;

/** @param used milliseconds of the processor since the last call, for one expression @returns what the next one gets */
function allow(used: number): number {
  const now = performance.now();
  const regained = (now - updatedAt) * regainedShare;
  updatedAt = now;
  const left = allowance + regained - Math.max(0, used - freeMilliseconds);
  allowance = Math.max(0, Math.min(allowanceMilliseconds, left));
  return Math.ceil(Math.max(leastMilliseconds, Math.min(longestMilliseconds, allowance)));
}

/** @returns undefined if that takes longer */
function matchWithin(milliseconds: number): boolean | undefined {
  try {
    return script.runInContext(context, { timeout: milliseconds }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

/**
 * @param regex an expression that compiles
 * @returns whether the whole expression is found in the value; null if that takes too long to find out
 */
export function matchesRegex(regex: string, value: string): boolean | null {
  const limit = allow(0);
  const began = process.cpuUsage();
  const used = () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  Object.assign(context, { regex, value });
  try {
    let found = matchWithin(limit);
    // A busy machine may not have let the process run in time.
    for (let count = 0; found === undefined && used() < limit / 2 && count < mostRepetitions; count++)
      found = matchWithin(limit);
    return found ?? null;
  } catch {
    return null;
  } finally {
    Object.assign(context, { regex: '', value: '' });
    const milliseconds = used();
    allow(milliseconds);
    usedInTurn += milliseconds;
  }
}

/** The same for many expressions: other callers are served between them. */
export async function matchesRegexInTurn(regex: string, value: string): Promise<boolean | null> {
  while (usedInTurn >= turnMilliseconds) {
    nextTurn ??= endOfTurn().then(() => {
      usedInTurn = 0;
      nextTurn = undefined;
    });
    await nextTurn;
  }
  return matchesRegex(regex, value);
}
