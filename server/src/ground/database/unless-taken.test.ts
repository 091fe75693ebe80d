import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationName } from '#contract/operations.ts';
import { startTests } from '../../../testing/start.ts';

const { organizationId, call, ok, add, createTemplate } = await startTests();

/** Named entities, by the operation that changes them: how one is created, and the change that gives it a name. */
const named: Partial<
  Record<OperationName, { make(name: string): Promise<string>; change(name: string): object }>
> = {
  updateGitToken: {
    make: async (name) => (await add('GitToken', name, { type: 'GIT', value: 'v' })).id,
    change: (name) => ({ name }),
  },
  updateVcsConnection: {
    make: async (name) => {
      const body = {
        organizationId,
        name,
        type: 'GitLabEnterprise',
        url: 'https://gitlab.example',
        vcsAgentKey: '',
      };
      return (await ok('createVcsConnection', { body })).id;
    },
    change: (name) => ({ name }),
  },
  updateCredential: {
    make: async (name) => {
      const value = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'v' };
      const body = { organizationId, name, type: 'AWS_ACCESS_KEYS_FOR_DEPLOYMENT', value };
      return (await ok('createCredential', { body })).id;
    },
    change: (name) => ({ name }),
  },
  updateTemplate: {
    make: async (name) => (await createTemplate({ name })).id,
    change: (name) => ({ name, type: 'terraform', repository: 'https://git.example.com/network.git' }),
  },
  updateModule: {
    make: async (name) => {
      const repository = 'https://git.example/x';
      const body = { organizationId, moduleName: name, moduleProvider: 'aws', repository };
      return (await ok('createModule', { body })).id;
    },
    change: (name) => ({ moduleName: name }),
  },
};

for (const [operation, { make, change }] of Object.entries(named))
  test(`of several that get one name at once, one does: ${operation}`, async () => {
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) ids.push(await make(`before-${index}`));
    const replies = await Promise.all(
      ids.map((id) => call(operation as OperationName, { id, body: change('wanted') })),
    );
    const statuses = replies.map(({ statusCode }) => statusCode).toSorted();
    assert.deepEqual(statuses, [200, 409, 409, 409, 409, 409]);
  });
