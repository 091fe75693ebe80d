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
  const connection = { organizationId, name: 'v', type: 'GitLabEnterprise', url: 'https://git.example' };
  const { id: vcsConnection } = await ok(app, 'createVcsConnection', { body: connection });
  const role = { roleArn: 'arn:aws:iam::123456789012:role/deployer' };
  const credential = await ok(app, 'createCredential', {
    body: { organizationId, name: 'c', type: 'AWS_OIDC', value: role },
  });
  return {
    ids: { gitToken: token.id, sshKey: key.id, credential: credential.id, vcsConnection },
    queries: { getVcsToken: { repository: 'https://github.com/team/code' } },
    bodies: {
      createSshKey: { organizationId, name: 'n', value },
      updateSshKey: { value },
      createVcsConnection: { ...connection, name: 'other' },
      createCredential: { name: 'n', type: 'AWS_OIDC', value: role },
    },
  };
};
