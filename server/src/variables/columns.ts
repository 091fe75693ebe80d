/** What columns hold that are text, numbers or JSON to the database. */
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { VariableSchema } from '../database/stored.ts';

export interface Columns {
  'variable.schema': VariableSchema;
  'variable.scope': VariableScope;
  'variable.type': VariableType;
}
