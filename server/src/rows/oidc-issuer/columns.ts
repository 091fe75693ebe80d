/** Types of columns that are text, numbers or JSON to the database. */
import type { JWK } from 'jose';

export interface Columns {
  'oidc_key.public_key': JWK;
}
