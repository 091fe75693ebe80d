/** What columns hold that are text, numbers or JSON to the database. */
import type { Progress } from './linking-progress.ts';

export interface Columns {
  'audit_event.details': Record<string, unknown>;
  'audit_event.before': Record<string, unknown>;
  'audit_event.after': Record<string, unknown>;
  'audit_head.progress': Progress;
}
