/** Operations on what approval policies say about plans. */
import { Type } from 'typebox';
import { defineOperations, operation } from '../operation.ts';
import { Name, offsetOf } from '../schema/schema.ts';
import { GivenVerdict } from './shapes.ts';

export const operations = defineOperations('approval policies', {
  listPolicyVerdicts: operation('GET', '/approval-policies/{id}/verdicts', {
    summary: 'List verdicts of an approval policy',
    description:
      'What it said about plans, newest first, with one entry for each round. Of a page, those of environments that ' +
      'the caller may see.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'verdicts about its deployments' }],
    subject: { entity: 'approvalPolicy', in: 'params', field: 'id' },
    params: Type.Object({ id: Name }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 25' })),
      offset: Type.Optional(offsetOf('verdict')),
    }),
    reply: Type.Array(GivenVerdict),
  }),
});
