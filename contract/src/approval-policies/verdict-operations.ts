/** Operations on what approval policies say about plans. */
import { Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { AnyObject, closed, offsetOf, Text } from '../schema/schema.ts';
import { GivenVerdict, PolicyTest } from './shapes.ts';

export const operations = defineOperations('approval policies', {
  listPolicyVerdicts: operation('GET', '/approval-policies/{id}/verdicts', {
    summary: 'List verdicts of an approval policy',
    description:
      'Its verdicts about plans, newest first, with one entry for each round. Of a page, those of environments that ' +
      'the caller may see.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'verdicts about its deployments' }],
    ...aboutOne('approvalPolicy'),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 25' })),
      offset: Type.Optional(offsetOf('verdict')),
    }),
    reply: Type.Array(GivenVerdict),
  }),
  testApprovalPolicy: operation('POST', '/approval-policies/test', {
    summary: 'Test an approval policy',
    description:
      'Evaluates a policy, or files of one that is being written, against the plan of a stored deployment. Nothing ' +
      'changes: neither the deployment nor its verdicts.',
    needs: 'VIEW_ENVIRONMENT',
    needsToo: [{ right: 'CREATE_AND_EDIT_TEMPLATES', for: '`files`' }],
    subject: { entity: 'deployment', in: 'body', field: 'deploymentId' },
    body: closed({
      deploymentId: Type.String({ minLength: 1, description: 'The deployment whose plan is judged' }),
      policyId: Type.Optional(
        Type.String({ minLength: 1, description: 'A policy of the organization, read at its newest commit' }),
      ),
      files: Type.Optional(
        Type.Record(Text, Text, {
          maxProperties: 200,
          description: 'Files of Rego by name, instead of a policy of the organization',
        }),
      ),
      policyConfiguration: Type.Optional({
        ...AnyObject,
        description: "`input.policyConfiguration`; absent: the policy's own",
      }),
    }),
    bodyMegabytes: 6,
    asksOthers: true,
    reply: PolicyTest,
  }),
});
