import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '#contract/client/client.ts';
import type { OperationName } from '#contract/operations.ts';
import { explainReply, hasForm } from './explain-reply.ts';

const defect = new TypeError("Cannot read properties of undefined (reading 'name')");
const replied = (name: OperationName, reply: unknown) =>
  new Set<OperationName>(hasForm(name, reply) ? [] : [name]);

test('a defect of the program is not explained by a reply that has its form', () => {
  assert.equal(explainReply(defect, replied('listProjects', [])), defect);
  assert.equal(explainReply(defect, replied('getCurrentUser', { user: {}, organizations: [] })), defect);
  assert.equal(explainReply(defect, new Set()), defect);
});

test('a reply of another form is named', () => {
  for (const [name, reply] of [
    ['listProjects', { status: 'ok' }],
    ['listProjects', null],
    ['getCurrentUser', { status: 'ok' }],
    ['getCurrentUser', []],
    ['getCurrentUser', 'ok'],
  ] as const) {
    const error = explainReply(defect, replied(name, reply));
    assert.ok(error instanceof ApiError);
    assert.match(error.message, new RegExp(`^The reply to ${name} has an unexpected form`));
  }
});

test('only what fails because of a form is explained by it', () => {
  const error = new Error('No such environment');
  assert.equal(explainReply(error, new Set(['listProjects'])), error);
});
