/** Ends what a command of the run has left behind. */
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { endProcessesOf } from '../../processes/end-processes.ts';
import { signalQuietly } from '../../processes/proc.ts';
import { processesWriting } from '../../processes/processes-holding.ts';

/** A sandbox has ended with all its processes; without one they are found by their uid, or by their log files. */
export async function endRest({ order, spool, tree }: AttemptContext): Promise<void> {
  const { slotUid, isolation } = order;
  if (isolation.bubblewrap !== null) return;
  if (slotUid === null) {
    for (const pid of processesWriting(spool.steps)) signalQuietly(pid, 'SIGKILL');
    return;
  }
  await endProcessesOf(slotUid);
  // It had the same uid.
  await tree.restart();
}
