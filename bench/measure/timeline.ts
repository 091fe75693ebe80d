/** Breakdown of the time of deployments, as reported by the service itself. */
import type { DeploymentTimeline } from '#contract/deployments/timeline.ts';
import { type Figure, figure } from './figure.ts';
import type { BenchService } from './service.ts';

/** The timelines of deployments that have ended. */
export async function readTimelines(
  { client }: BenchService,
  ids: readonly string[],
): Promise<DeploymentTimeline[]> {
  const timelines: DeploymentTimeline[] = [];
  for (const id of ids) timelines.push(await client.call('getDeploymentTimeline', { params: { id } }));
  return timelines;
}

/** A phase with its run: both runs have a claim, a start and an end. */
const nameOf = ({ run, phase }: DeploymentTimeline['phases'][number]) =>
  run === undefined ? phase : `${phase} (${run})`;

/** The service's own time in each phase; phases of the same name count together. */
export function ownShares(timelines: readonly DeploymentTimeline[]): Figure[] {
  const names = [...new Set(timelines.flatMap(({ phases }) => phases.map(nameOf)))];
  const ownIn = ({ phases }: DeploymentTimeline, name: string) =>
    phases
      .filter((phase) => nameOf(phase) === name)
      .reduce((total, { ownMilliseconds }) => total + ownMilliseconds, 0);
  return names.map((name) =>
    figure(
      `own: ${name}`,
      'ms',
      timelines.map((timeline) => ownIn(timeline, name)),
    ),
  );
}

/** Processor time of a deployment's commands in milliseconds. */
export function commandCpu({ commands }: DeploymentTimeline): { tool: number; git: number } {
  const cpuWhere = (isGit: boolean) =>
    commands
      .filter(({ program }) => (program === 'git') === isGit)
      .reduce((total, { cpuMilliseconds = 0 }) => total + cpuMilliseconds, 0);
  return { tool: cpuWhere(false), git: cpuWhere(true) };
}
