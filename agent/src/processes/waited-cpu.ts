/** The processor time of commands that have ended, as the kernel adds it up for their parent. */
import { statOf } from './proc.ts';

/** The kernel counts in ticks of this length on every machine that Node runs on. */
const tickMilliseconds = 10;

/** Processor time of all child processes that have ended, with their own children, in milliseconds. */
function ofEndedChildren(): number {
  return (statOf('self')?.endedChildrenTicks ?? 0) * tickMilliseconds;
}

let counted = 0;

/**
 * Call it before a command starts. @returns a function for after its end: the processor time of the command in
 * milliseconds, which nothing else is counted as. Of two commands at the same time, each gets what ended since
 * the other one's end.
 */
export function watchWaitedCpu(): () => number {
  const before = ofEndedChildren();
  return () => {
    const now = ofEndedChildren();
    const spent = now - Math.max(before, counted);
    counted = now;
    return spent;
  };
}
