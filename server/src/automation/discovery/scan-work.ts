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

export function ruleOf(context: Context, row: DiscoveryRow, template: TemplateRow): DiscoveryRule {
  return {
    repository: template.repository,
    settings: template.settings,
    credentials: openCredentials(context, template),
    columns: row,
    place: { organizationId: template.organization_id, projectId: row.project_id },
  };
}
