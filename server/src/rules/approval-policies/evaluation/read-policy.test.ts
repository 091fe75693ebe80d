import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { withToolbox } from '../../../../../tools/toolbox/places.ts';
import { engine, evaluateFiles } from '../../../../testing/policy-engine.ts';
import { UnusableGit } from '../../../code/repositories/git/run-git.ts';
import type { Context } from '../../../framework/context.ts';
import { Refusal } from '../../../ground/errors.ts';
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import { catalogue } from './catalogue.ts';
import { isTemporary, readPolicy } from './read-policy.ts';

const place = { organizationId: 'o', projectId: 'p' };
const inCatalogue = (path: string) =>
  ({ repository: catalogueRepository, settings: { path } }) as unknown as TemplateRow;

test('every policy of the catalogue compiles and answers', withToolbox('opa'), async (t) => {
  const { context } = engine(t);
  const input = { plan: { format_version: '1.2' }, deploymentRequest: { type: 'destroy' } };
  const policyConfiguration = { maxCostIncrease: 1, registries: ['ghcr.io/acme'] };
  const body = Buffer.from(JSON.stringify({ ...input, policyConfiguration }));
  for (const { path } of catalogue()) {
    const { files } = await readPolicy(context as Context, inCatalogue(path), place);
    const messages = await evaluateFiles(context, files, body);
    assert.deepEqual([messages.deny, messages.pending, messages.allow.length], [[], [], 1], path);
  }
});

test('a policy that the catalogue no longer has is an error in words', async () => {
  await assert.rejects(
    readPolicy({} as Context, inCatalogue('older'), place),
    /The catalogue of this version has no policy "older"/,
  );
});

test('a service without git does not try a policy again: that does not pass', () => {
  assert.equal(isTemporary(new UnusableGit('git is not installed')), false);
  assert.equal(isTemporary(new Refusal('unavailable', 'Too many repositories are being read')), true);
});
