import { generateKeyPairSync } from 'node:crypto';
import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const { organizationId } = app;
  const value = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs1',
    format: 'pem',
  });
  const token = await ok(app, 'createGitToken', { body: { organizationId, name: 't', value: 'v' } });
  const key = await ok(app, 'createSshKey', { body: { organizationId, name: 'k', value } });
  return {
    ids: { gitToken: token.id, sshKey: key.id },
    bodies: { createSshKey: { organizationId, name: 'n', value }, updateSshKey: { value } },
  };
};
