/** A scan with the configuration that it is for. */
import type { Context } from '../../framework/context.ts';
import type { DiscoveryRow } from '../../rows/discovery/discovery-store.ts';
import type { ScanRow } from '../../rows/discovery/scan-store.ts';
import { openCredentials, type TemplateRow } from '../../rows/templates/template-store.ts';
import type { DiscoveryRule } from './scan-reading.ts';

/** A scan, and the configuration that it is for. */
export interface ScanWork {
  readonly scan: ScanRow;
  readonly row: DiscoveryRow;
  readonly template: TemplateRow;
  readonly rule: DiscoveryRule;
}

/** The first scan of a configuration asks before it removes anything: another branch lacks folders that nobody removed. */
export const limitOfFirstScan = 0;

export function ruleOf(context: Context, row: DiscoveryRow, template: TemplateRow): DiscoveryRule {
  const isScanned = row.scanned_version === row.version;
  return {
    repository: template.repository,
    settings: template.settings,
    credentials: openCredentials(context, template),
    columns: isScanned ? row : { ...row, removal_limit_percent: limitOfFirstScan },
    place: { organizationId: template.organization_id, projectId: row.project_id },
  };
}
