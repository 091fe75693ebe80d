/** For tests: projects of Pulumi. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pulumiStage, type StageVariables } from './pulumi-stage.ts';

/** A project of one file, without secrets. */
export const onePage = `name: shop
runtime: yaml
config:
  world: { type: string }
resources:
  page:
    type: file:File
    properties:
      path: \${world}/page
      content: hello
outputs:
  page: \${page.path}
`;

/** A project of two files, one with a secret. */
export const program = `name: shop
runtime: yaml
config:
  world: { type: string }
  greeting: { type: string }
  token: { type: string, secret: true }
resources:
  page:
    type: file:File
    properties:
      path: \${world}/page
      content: \${greeting}
  key:
    type: file:File
    properties:
      path: \${world}/key
      content: \${token}
outputs:
  page: \${page.path}
  key: \${key.content}
`;
export const variables = { values: { greeting: 'hello' }, secrets: { token: 'planted-token' } };
export const urn = (name: string) => `urn:pulumi:test-one::shop::file:index:File::${name}`;

/** A stage with the project deployed. */
export async function deployed(t: TestContext, more: StageVariables = {}) {
  const stage = pulumiStage(t, { 'Pulumi.yaml': program }, { ...variables, ...more });
  const { applied } = await stage.deploy();
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
  return { ...stage, applied };
}
