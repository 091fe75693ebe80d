/** Types of columns that are text to the database. */
import type { SessionKind, SignInWay } from '#contract/sign-in/shapes.ts';

export interface Columns {
  'session.kind': SessionKind;
  'session.way': SignInWay;
  'cli_code.way': SignInWay;
}
