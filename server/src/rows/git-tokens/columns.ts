/** Types of columns that are text, numbers or JSON to the database. */
import type { TokenType } from '#contract/git-tokens/operations.ts';

export interface Columns {
  'git_token.type': TokenType;
}
