/** Types of columns that are text, numbers or JSON to the database. */

export interface Columns {
  'audit_event.details': Record<string, unknown>;
  'audit_event.before': Record<string, unknown>;
  'audit_event.after': Record<string, unknown>;
  'audit_head.progress': Progress;
}

/** Numbers that were not visible when later ones were linked. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /** Milliseconds. */
  readonly since: number;
  /** Transactions that could still fill it have lower ids. */
  readonly before: string;
}

export interface Progress {
  /** Every entry up to here is linked, or has its number in a gap. */
  readonly upTo: number;
  readonly gaps: readonly Gap[];
}
