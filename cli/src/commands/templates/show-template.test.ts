import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgainst } from '../../../testing/fake-service.ts';

const id = '019366a0-0000-7000-8000-00000000000a';

test('a template is shown with its tool and its own version, and what terragrunt runs with its own', async () => {
  const template = {
    id,
    name: 'live',
    organizationId: 'o1',
    repository: 'https://git.example.com/live.git',
    type: 'terragrunt',
    terragruntVersion: '1.1.3',
    terraformVersion: '1.9.8',
    terragruntTfBinary: 'terraform',
    isTerragruntRunAll: true,
  };
  const replies = {
    'GET /organizations': [{ id: 'o1', name: 'only' }],
    [`GET /blueprints/${id}`]: template,
  };
  const { stdout, stderr } = await runAgainst(['templates', 'show', id], replies);
  assert.match(
    stdout,
    /^Tool: +terragrunt 1\.1\.3\nRuns: +terraform 1\.9\.8\nUnits: +all below the folder$/m,
    stderr,
  );
});
