/** Types of columns that are text, numbers or JSON to the database. */
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { VariableSchema } from '#contract/variables/shapes.ts';

export interface Columns {
  'variable.schema': VariableSchema;
  'variable.scope': VariableScope;
  'variable.type': VariableType;
}
