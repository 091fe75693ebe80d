/** What columns hold that are text, numbers or JSON to the database. */
export interface Columns {
  'audit_event.details': Record<string, unknown>;
}
