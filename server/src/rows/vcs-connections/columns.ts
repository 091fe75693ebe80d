/** Types of columns that are text, numbers or JSON to the database. */
import type { VcsConnectionType } from '#contract/vcs-connections/connection-types.ts';

export interface Columns {
  'vcs_connection.type': VcsConnectionType;
}
