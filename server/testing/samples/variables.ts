import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app, environment) => {
  const { organizationId } = app;
  const scope = { scope: 'ENVIRONMENT', scopeId: environment.id, organizationId } as const;
  const [variable] = await ok(app, 'saveVariables', {
    body: [{ ...scope, name: 'SAMPLED', type: 0, value: 'v' }],
  });
  return {
    ids: { variable: variable?.id ?? '' },
    bodies: { saveVariables: [{ ...scope, name: 'WRITTEN', type: 0, value: 'v' }] },
    queries: { listVariables: { organizationId } },
  };
};
