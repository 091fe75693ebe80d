import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const { organizationId, projectId } = app;
  const params = { projectId };
  const budget = { amount: 100, timeframe: 'MONTHLY', thresholds: [80, 100] };
  await ok(app, 'setBudget', { params, body: budget });
  const { id: credentialsId } = await ok(app, 'createCredential', {
    body: {
      organizationId,
      name: 'costs',
      type: 'AWS_ASSUMED_ROLE',
      value: { roleArn: 'arn:aws:iam::123456789012:role/costs' },
    },
  });
  return { ids: {}, bodies: { setBudget: budget, assignCostCredential: { credentialsId } } };
};
