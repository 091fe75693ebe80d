/** Content of the file of a request, which everything that a run starts can read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf } from '../../../testing/driver-job.ts';
import { requestOf } from './request.ts';

test("a run gets none of the service's secrets with its request", async () => {
  const variable = (name: string, isSensitive: boolean) => ({ name, value: `value of ${name}`, isSensitive });
  const { secrets } = await requestOf(
    jobOf({
      tool: 'cloudformation',
      variables: {
        environment: [variable('REGION', false), variable('KEY', true)],
        terraform: [variable('Size', false), variable('Password', true)],
      },
      secrets: ['value of KEY', 'value of Password', 'the token of the organization for git'],
    }),
  );
  assert.deepEqual(secrets, ['value of KEY', 'value of Password']);
});
