/** Shapes of replies about budgets, and about credentials that read costs. */
import { type Static, Type } from 'typebox';
import { CredentialTypeName } from '../credentials/shapes.ts';
import { oneOf } from '../schema/enumerations.ts';
import { replyObject } from '../schema/schema.ts';
import { budgetTimeframes } from './timeframes.ts';

export const Budget = replyObject('Budget', {
  id: Type.String({ description: 'Id of the budget; stays the same when the budget is changed' }),
  projectId: Type.String({ description: 'The project that it is for' }),
  amount: Type.Number({ description: 'What the project may cost in a timeframe' }),
  timeframe: oneOf(budgetTimeframes, 'How often the amount is available again'),
  thresholds: Type.Array(Type.Integer(), { description: 'Percentages of the amount, in the order sent' }),
});
export type Budget = Static<typeof Budget>;

export const CostCredential = replyObject('CostCredential', {
  projectId: Type.String({ description: 'The project whose costs it reads' }),
  credentialsId: Type.String({ description: 'Id of the credential' }),
  credentialsType: CredentialTypeName,
});
export type CostCredential = Static<typeof CostCredential>;
