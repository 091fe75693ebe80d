import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '#contract/operations.ts';
import { describeSetting } from './without-effect.ts';

interface Marked {
  readonly 'x-no-effect'?: string;
  readonly 'x-no-effect-values'?: readonly unknown[];
  readonly type?: string | readonly string[];
}

function fieldsOf(body: unknown): Readonly<Record<string, Marked>> {
  return (body as { readonly properties: Readonly<Record<string, Marked>> }).properties;
}

const { updateEnvironment, updatePolicy, updateOrganizationPolicies } = operations;

test('the settings pages know each setting without effect, as the contract marks it', () => {
  const settings = [updateEnvironment, updatePolicy, updateOrganizationPolicies].flatMap(({ body }) =>
    Object.entries(fieldsOf(body)).map(([name, field]) => {
      const consequence = field['x-no-effect'];
      // Of a list, only some choices have no effect.
      const isList = field['x-no-effect-values']?.some((value) => typeof value === 'string') === true;
      const isMarked = consequence !== undefined && !isList;
      return [name, isMarked ? `Stored, without effect yet: ${consequence}.` : undefined] as const;
    }),
  );
  assert.ok(settings.filter(([, note]) => note !== undefined).length > 10);
  for (const [name, note] of settings) assert.equal(describeSetting(name), note, name);
});

test('a page says what a setting is for, and what it does not do yet', () => {
  const note = 'Stored, without effect yet: comments on pull requests are not read.';
  assert.equal(describeSetting('vcsCommandsAlias', 'Instead of the name'), `Instead of the name. ${note}`);
  assert.equal(describeSetting('vcsCommandsAlias'), note);
  assert.equal(describeSetting('isRemoteBackend', 'Kept'), 'Kept');
  assert.equal(describeSetting('isRemoteBackend'), undefined);
});
