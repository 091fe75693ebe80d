/** Why something has drifted, in a sentence. Pure. */
import { isDrift } from '#contract/deployments/plan-counts.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';

type DriftCheck = Pick<Deployment, 'plan' | 'driftCause'>;

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;

/** @param check a check that has found drift */
export function causeWords({ plan, driftCause }: DriftCheck): string {
  const changes = (plan?.resourceChanges ?? []).filter(isDrift);
  const byCloud = changes.filter(({ driftByCloud }) => driftByCloud === true).length;
  const commits = driftCause?.unappliedCommits.length ?? 0;
  const rest = changes.length - byCloud;
  const parts = [
    ...(byCloud > 0
      ? [`${count(byCloud, 'resource was', 'resources were')} changed outside of the code`]
      : []),
    ...(rest > 0 && commits > 0
      ? [`the code has ${count(commits, 'commit', 'commits')} that was not deployed`]
      : []),
    ...(rest > 0 && commits === 0
      ? [`the code or its variables would change ${count(rest, 'resource', 'resources')} now`]
      : []),
  ];
  if (parts.length === 0)
    return changes.length === 0 ? 'Only outputs differ.' : 'What is there differs from the code.';
  const text = parts.join(', and ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
