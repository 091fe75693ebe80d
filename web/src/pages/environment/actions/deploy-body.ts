/** Request of the deploy dialog. Pure. */
import type { CallInput } from '#contract/client/client.ts';
import { splitTargets } from '#contract/deployments/split-targets.ts';
import { changesOf, type VariableFormRow } from '../../../forms/variables/rows.ts';
import type { EnvironmentReply } from '../facts/reads.ts';

export const deployKinds = ['deploy', 'dryRun', 'driftDetection', 'task'] as const;
export type DeployKind = (typeof deployKinds)[number];

export interface DeployValues {
  readonly kind: DeployKind;
  readonly comment: string;
  readonly revision: string;
  /** Empty: the one that it has. */
  readonly templateId: string;
  /** One address per line, or with commas between them. */
  readonly targets: string;
  readonly requiresApproval: boolean;
  readonly taskPayload: string;
  readonly importUnrecorded: boolean;
  /** A new lifetime from now on, as a number; empty: the one that it has. */
  readonly hours: string;
}

type Body = NonNullable<CallInput<'deployEnvironment'>['body']>;

/** @param environment what it had when the dialog was opened: only what differs is sent */
export function deployBody(
  values: DeployValues,
  environment: Pick<EnvironmentReply, 'requiresApproval' | 'latestDeploymentLog'>,
  rows: readonly VariableFormRow[],
): Body {
  const { kind, comment, revision, templateId, requiresApproval, taskPayload, importUnrecorded, hours } =
    values;
  const targets = splitTargets(values.targets.replaceAll(/\r?\n/g, ','));
  const changes = changesOf(rows);
  const isPlanned = kind === 'deploy' || kind === 'dryRun';
  const before = environment.latestDeploymentLog?.blueprintRevision ?? '';
  return {
    deploymentType: kind,
    ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
    ...(revision.trim() !== before && kind !== 'task' ? { blueprintRevision: revision.trim() } : {}),
    ...(templateId !== '' && kind === 'deploy' ? { blueprintId: templateId } : {}),
    ...(targets.length > 0 && isPlanned ? { targets } : {}),
    ...(changes.length > 0 && kind !== 'driftDetection' ? { configurationChanges: changes } : {}),
    ...(kind === 'deploy' && requiresApproval !== environment.requiresApproval
      ? { userRequiresApproval: requiresApproval }
      : {}),
    ...(kind === 'task' ? { taskPayload } : {}),
    ...(kind === 'deploy' && hours.trim() !== ''
      ? { ttl: { type: 'HOURS', value: hours.trim() } as const }
      : {}),
    ...(isPlanned && importUnrecorded ? { importUnrecorded } : {}),
  };
}
