import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialTypes } from '#contract/credentials/kinds.ts';
import { fieldsOf, fieldTexts, kindChoices, problemsOf, valueOf } from './credential-kinds.ts';

test('every kind can be chosen once, and all of its fields have a label', () => {
  const chosen = kindChoices().flatMap(({ items }) => items.map(({ value }) => value));
  assert.deepEqual(chosen.toSorted(), [...credentialTypes].toSorted());
  for (const type of credentialTypes)
    for (const { field } of fieldsOf(type)) assert.notEqual(fieldTexts[field].label, '', `${type} ${field}`);
});

test('only the fields of the kind are sent, and none that are empty', () => {
  const typed = {
    roleArn: ' arn:aws:iam::1:role/x ',
    duration: '3600',
    secretAccessKey: '',
    kubeConfig: 'left',
  };
  assert.deepEqual(valueOf('AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', typed), {
    roleArn: 'arn:aws:iam::1:role/x',
    duration: 3600,
  });
});

test('missing fields and a duration out of range each have a message at their field', () => {
  assert.deepEqual(Object.keys(problemsOf('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', { accessKeyId: 'AKIA' })), [
    'value.secretAccessKey',
  ]);
  assert.deepEqual(
    Object.keys(problemsOf('AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', { roleArn: 'arn', duration: '60' })),
    ['value.duration'],
  );
});
