/** Breakdown of the time of a deployment, as a table. */
import type { DeploymentTimeline, TimelinePhase } from '#contract/deployments/timeline.ts';
import type { CommandSession } from '../session/session.ts';
import { durationText } from '../terminal/durations.ts';
import type { TableColumn } from '../terminal/table.ts';

/** A phase, or the sum of all. */
type TimingRow = Omit<TimelinePhase, 'phase'> & { readonly phase: string };

/** Short phases matter here: milliseconds up to ten seconds; nothing for nothing. */
function timeText(milliseconds: number): string {
  if (milliseconds === 0) return '';
  return milliseconds < 10_000 ? `${milliseconds} ms` : durationText(milliseconds);
}

const columns: TableColumn<TimingRow>[] = [
  { head: 'RUN', value: ({ run }) => run, isWhole: true },
  { head: 'PHASE', value: ({ phase }) => phase, isWhole: true },
  { head: 'STEP', value: ({ step }) => step, isExtra: true },
  { head: 'TOOK', value: (row) => timeText(row.milliseconds), isWhole: true },
  { head: 'TOOL', value: (row) => timeText(row.toolMilliseconds), isWhole: true },
  { head: 'GIT', value: (row) => timeText(row.gitMilliseconds), isWhole: true },
  { head: 'WAITING', value: (row) => timeText(row.waitingMilliseconds), isWhole: true },
  { head: 'SERVICE', value: (row) => timeText(row.ownMilliseconds), isWhole: true },
];

/** The rows of the table, the total last. */
function timingRows(timeline: DeploymentTimeline): TimingRow[] {
  return [...timeline.phases, { ...timeline, phase: 'total' }];
}

/** Prints the timeline of a deployment. */
export async function showTiming({ client, output, isJson }: CommandSession, id: string): Promise<void> {
  const timeline = await client.call('getDeploymentTimeline', { params: { id } });
  if (isJson) return output.json(timeline);
  await output.table(timingRows(timeline), columns, '');
}
