/** Effects of stored plans in numbers, and a plan as a document. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Count, mapOf, replyObject, Text } from '../schema/schema.ts';

/** Maximum number of plans in one request. */
export const mostImpacts = 200;
/** Maximum number of destructive changes listed for a plan. */
export const mostDestructive = 50;

const idList = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: mostImpacts * 40, description }));

export const PlanImpactQuery = Type.Object({
  deploymentIds: idList(`Ids of up to ${mostImpacts} deployments, separated by commas`),
  ids: idList('The same, under another name'),
});
export type PlanImpactQuery = Static<typeof PlanImpactQuery>;

export const DestructiveChange = replyObject('DestructiveChange', {
  address: Text,
  type: Text,
  name: Text,
  action: oneOf(['delete', 'recreate']),
});

const optionalCount = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

export const PlanImpact = replyObject('PlanImpact', {
  planReadable: Type.Boolean({ description: 'false: no plan is stored, and every other field is absent' }),
  create: optionalCount('Resources that are created'),
  update: optionalCount('Resources that are changed in place'),
  delete: optionalCount('Resources that are destroyed'),
  recreate: optionalCount('Resources that are replaced'),
  metadata: optionalCount('Resources of which only the state changes: moved, imported, no longer managed'),
  destructive: Type.Optional(
    Type.Array(DestructiveChange, {
      description: `The first ${mostDestructive} resources that are destroyed or replaced, in the order of the plan`,
    }),
  ),
  destructiveTotal: optionalCount('How many there are'),
  destructiveTypeCounts: Type.Optional(mapOf(Count, 'How many there are of each type of resource')),
});
export type PlanImpact = Static<typeof PlanImpact>;

export const PlanJsonQuery = Type.Object({
  redirect: Type.Optional(
    Type.Boolean({ description: 'false: `{url}`, the address of the document, instead of the document' }),
  ),
});
