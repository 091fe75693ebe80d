/** Where a deployment spends the time outside of tool processes: the periods between recorded events. */
import type { Database } from '../server/src/database/open.ts';
import { phasesOf, processesOf } from './database.ts';
import type { Watched } from './deployments.ts';

/** Milliseconds; together with the processes they make up the whole. */
export interface Parts {
  readonly 'request to claim': number;
  readonly 'claim to first process': number;
  readonly 'between processes of the plan': number;
  readonly 'last process of the plan to its end': number;
  readonly 'end of the plan to the apply process': number;
  readonly 'last process to final status': number;
  readonly 'final status to reader': number;
}

/** Time in which none of the processes ran, from the first one's start to the last one's end. */
function gaps(processes: readonly { from: number; to: number }[]): number {
  return processes.reduce(
    (total, each, index) => total + Math.max(0, each.from - (processes[index - 1]?.to ?? each.from)),
    0,
  );
}

/** @throws Error for a deployment without both phases */
export async function partsOf(database: Database, { id, requestedAt, ended }: Watched): Promise<Parts> {
  const processes = await processesOf(database, id);
  const [plan, apply] = await phasesOf(database, id);
  const planEnd = plan?.ended_at?.getTime();
  const applyEnd = apply?.ended_at?.getTime();
  if (!plan || planEnd === undefined || applyEnd === undefined)
    throw new Error(`deployment ${id} has not planned and applied`);
  const planning = processes.filter(({ to }) => to <= planEnd);
  const applying = processes.filter(({ to }) => to > planEnd);
  const claimed = plan.claimed_at.getTime();
  return {
    'request to claim': claimed - requestedAt,
    'claim to first process': (planning[0]?.from ?? claimed) - claimed,
    'between processes of the plan': gaps(planning),
    'last process of the plan to its end': planEnd - (planning.at(-1)?.to ?? planEnd),
    'end of the plan to the apply process': (applying[0]?.from ?? planEnd) - planEnd,
    'last process to final status': applyEnd - (applying.at(-1)?.to ?? applyEnd),
    'final status to reader': requestedAt + ended - applyEnd,
  };
}
