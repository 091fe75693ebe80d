/**
 * Puts what an event tells into what has been read already: every page shows a new status at once, and reads
 * the rest afterwards.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import type { OperationName } from '#contract/operations.ts';

type Patch<Shown> = (shown: Shown) => Shown;
type Row = Environment | Deployment;

const ofEnvironments: readonly OperationName[] = ['listEnvironments', 'getEnvironment'];
const ofDeployments: readonly OperationName[] = ['listDeployments', 'getDeployment'];

/** One row, a list of them, or a page of a list; what is edited has the tag of a version and stays. */
function patched<Shown extends Row>(read: unknown, patch: Patch<Shown>): unknown {
  if (Array.isArray(read)) return mapChanged(read as Shown[], patch);
  if (typeof read !== 'object' || read === null) return read;
  if ('rows' in read && Array.isArray(read.rows)) {
    const rows = mapChanged(read.rows as Shown[], patch);
    return rows === read.rows ? read : { ...read, rows };
  }
  return 'id' in read ? patch(read as Shown) : read;
}

/** The same list where nothing in it has changed: its readers are not told. */
function mapChanged<Shown>(rows: readonly Shown[], patch: Patch<Shown>): readonly Shown[] {
  const changed = rows.map(patch);
  return changed.every((row, index) => row === rows[index]) ? rows : changed;
}

function patchReads<Shown extends Row>(
  queries: QueryClient,
  names: readonly OperationName[],
  patch: Patch<Shown>,
): void {
  for (const name of names)
    queries.setQueriesData({ queryKey: [name] }, (read: unknown) => patched(read, patch));
}

/**
 * Changes the reads that an event concerns.
 * @param queries where they are kept
 */
export function takeIntoReads(queries: QueryClient, event: OrganizationStreamEvent): void {
  if (event.event === 'deployment') {
    const { environmentId, deploymentLogId, environmentStatus, ...told } = event.data;
    const { status, startedAt, finishedAt } = told;
    const waitingFor = told.waitingFor ?? undefined;
    const ofDeployment: Patch<Deployment> = (shown) =>
      shown.id === deploymentLogId ? { ...shown, status, waitingFor, startedAt, finishedAt } : shown;
    patchReads<Deployment>(queries, ofDeployments, ofDeployment);
    patchReads<Environment>(queries, ofEnvironments, (shown) =>
      shown.id === environmentId
        ? {
            ...shown,
            status: environmentStatus,
            latestDeploymentLog: shown.latestDeploymentLog && ofDeployment(shown.latestDeploymentLog),
          }
        : shown,
    );
  } else if (event.event === 'environment') {
    const { environmentId, name, status } = event.data;
    patchReads<Environment>(queries, ofEnvironments, (shown) =>
      shown.id === environmentId ? { ...shown, name, status } : shown,
    );
  }
}
