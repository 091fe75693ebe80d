/** Readings of repositories, whichever way environments are found. */
import type { Context } from '../../framework/context.ts';
import type { DiscoveryColumns } from '../../rows/discovery/discovery-store.ts';
import type { ProjectPlace } from '../../rows/projects/project-store.ts';
import type { HostCredentials, TemplateSettings } from '../../rows/templates/columns.ts';
import type { ScanPlan } from './plan-folders.ts';

/** A configuration that has passed its checks, as it is stored. */
export interface CheckedDiscovery {
  readonly repository: string;
  readonly settings: TemplateSettings;
  readonly credentials: HostCredentials | null;
  readonly columns: Omit<DiscoveryColumns, 'updated_by' | 'updated_at' | 'next_poll_at'>;
}

/** A configuration, stored or not, as far as a scan depends on it. */
export interface DiscoveryRule
  extends Pick<CheckedDiscovery, 'repository' | 'settings' | 'credentials' | 'columns'> {
  readonly place: ProjectPlace;
}

/** Repositories as a scan found them. */
export interface ScanReading {
  /** The same as long as a scan would read the same; null: unknown. */
  readonly mark: string | null;
  /** Of the repository; null for discovery files, which are in several. */
  readonly commit: string | null;
  readonly files: number;
  readonly matched: number;
  readonly passedOverCount: number;
  /** Plans with what is stored now. @param context the transaction that stores the plan, if any does */
  plan(context: Pick<Context, 'db' | 'sealer' | 'settings'>): Promise<ScanPlan>;
}

/** Repositories whose files cannot be matched, such as by a glob that takes too long; the message is for people. */
export class UnmatchableTree extends Error {
  override readonly name = 'UnmatchableTree';
}
