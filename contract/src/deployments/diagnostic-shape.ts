/** The schema of what a tool reports: apart from what is done with it, which also programs without schemas do. */
import { Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { diagnosticSeverities } from './diagnostics.ts';

export const Diagnostic = Type.Object(
  {
    severity: oneOf(
      diagnosticSeverities,
      'check: an assertion of a check block failed, or could not be evaluated',
    ),
    step: Type.String({ description: 'The step whose log has it' }),
    text: Type.String({ description: 'As the tool reports it, with secrets masked, at most 4 KB' }),
  },
  { title: 'Diagnostic' },
);
