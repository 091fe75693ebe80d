import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const { organizationId, projectId } = app;
  const record = { name: 'sample', repository: 'https://git.example.com/flow.git' };
  const flow = await ok(app, 'createCustomFlow', { body: { ...record, organizationId } });
  const policy = await ok(app, 'createApprovalPolicy', { body: { ...record, organizationId } });
  const place = { scope: 'PROJECT', scopeId: projectId } as const;
  const assignment = { ...place, blueprintId: policy.id };
  return {
    ids: {
      customFlow: flow.id,
      approvalPolicy: policy.id,
      policyAssignment: `PROJECT#${projectId}#${policy.id}`,
    },
    bodies: {
      createCustomFlow: { ...record, name: 'other' },
      updateCustomFlow: record,
      assignCustomFlows: [{ ...place, blueprintId: flow.id }],
      unassignCustomFlows: [{ ...place, blueprintId: flow.id }],
      listCustomFlowAssignments: [place],
      createApprovalPolicy: { ...record, name: 'other' },
      updateApprovalPolicy: record,
      assignApprovalPolicy: assignment,
    },
  };
};
