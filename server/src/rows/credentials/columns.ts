/** Types of columns that are text, numbers or JSON to the database. */
import type { CredentialType } from '#contract/credentials/kinds.ts';

export interface Columns {
  'credential.type': CredentialType;
}
