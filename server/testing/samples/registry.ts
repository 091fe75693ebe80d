import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const { organizationId } = app;
  const module = {
    organizationId,
    moduleName: 'sample',
    moduleProvider: 'aws',
    repository: 'https://git.example.com/module.git',
  };
  const key = { organizationId, name: 'sample', keyId: '0123456789ABCDEF', content: 'public key' };
  const { id } = await ok(app, 'createModule', { body: module });
  const provider = await ok(app, 'createProvider', { body: { organizationId, type: 'sample' } });
  const gpgKey = await ok(app, 'createGpgKey', { body: key });
  return {
    ids: { module: id, provider: provider.id, gpgKey: gpgKey.id },
    bodies: {
      createModule: { ...module, moduleName: 'other' },
      createProvider: { type: 'other' },
      createGpgKey: key,
    },
  };
};
