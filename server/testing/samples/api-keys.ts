import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const body = { organizationId: app.organizationId, name: 'sample' };
  const { id } = await ok(app, 'createApiKey', { body });
  return { ids: { apiKey: id } };
};
