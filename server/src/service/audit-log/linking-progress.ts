/**
 * Progress of linking entries. Numbers of entries are assigned before their transactions commit: a number that
 * is not visible yet may appear later, or never, if its transaction was rolled back.
 */
import type { Gap, Progress } from '../../rows/audit-log/columns.ts';

/** A number is assigned within a statement: its transaction has an id soon after. */
const youngestAbandoned = 60_000;

export const noProgress: Progress = { upTo: 0, gaps: [] };

/** Rows of a pass. */
export interface LinkingPass {
  /** Of the entries that it links, in their order. */
  readonly numbers: readonly number[];
  /** Whether these are all that it could link. */
  readonly isComplete: boolean;
  readonly now: number;
  /** Before it read: the oldest transaction that was open. */
  readonly oldestOpen: string;
  /** After it read: the id of the next transaction. */
  readonly next: string;
}

function isAbandoned({ since, before }: Gap, { now, oldestOpen }: LinkingPass): boolean {
  return now - since >= youngestAbandoned && BigInt(oldestOpen) >= BigInt(before);
}

/** Rest of a range of numbers without some of them. */
function without(gap: Gap, numbers: readonly number[]): Gap[] {
  const inside = numbers.filter((number) => number >= gap.from && number <= gap.to);
  const left: Gap[] = [];
  let from = gap.from;
  for (const number of [...inside, gap.to + 1]) {
    if (number > from) left.push({ ...gap, from, to: number - 1 });
    from = number + 1;
  }
  return left;
}

/** The progress after a pass. */
export function advance(progress: Progress, seen: LinkingPass): Progress {
  const upTo = Math.max(progress.upTo, seen.numbers.at(-1) ?? 0);
  const fresh = { from: progress.upTo + 1, to: upTo, since: seen.now, before: seen.next };
  const kept = progress.gaps.filter((gap) => !seen.isComplete || !isAbandoned(gap, seen));
  return { ...progress, upTo, gaps: [...kept, fresh].flatMap((gap) => without(gap, seen.numbers)) };
}
