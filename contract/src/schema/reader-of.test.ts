import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { operations } from '../operations.ts';
import { defineOperations, type Operation, operation } from './operation.ts';
import { hasTag, isRepeatable, readerOf } from './reader-of.ts';

const all = Object.values(operations) as Operation[];
const fields = ({ params }: Operation) =>
  Object.keys((params as { properties?: object } | undefined)?.properties ?? {});
const bodyFields = ({ body }: Operation) =>
  Object.keys((body as { properties?: object } | undefined)?.properties ?? {});

test('every change of a resource that can be read alone names its reader', () => {
  for (const each of all.filter(({ method }) => ['PUT', 'PATCH', 'DELETE'].includes(method))) {
    const reader = all.find(({ method, path }) => method === 'GET' && path === each.path);
    const isList = (reader?.reply as { type?: string } | undefined)?.type === 'array';
    if (reader && hasTag(reader) && !isList) assert.equal(readerOf(each), reader, each.name);
  }
});

test('a reader is a GET of one resource, and finds its parameters in the change', () => {
  for (const each of all) {
    const reader = readerOf(each);
    assert.equal(
      reader === undefined && each.updates !== undefined,
      false,
      `${each.name} names no operation`,
    );
    if (!reader) continue;
    assert.ok(hasTag(reader), each.name);
    assert.deepEqual(
      fields(reader).filter((field) => !fields(each).includes(field) && !bodyFields(each).includes(field)),
      [],
      each.name,
    );
    // A read that every caller may send has no subject: then it is that of the change.
    const subjects = [reader.subject ?? each.subject ?? []].flat() as { in: string }[];
    const isAboutOne = subjects.some((subject) => subject.in === 'params') || fields(reader).length === 0;
    assert.ok(isAboutOne, reader.name);
  }
});

test('lists, creations and files have no reader', () => {
  const params = Type.Object({ id: Type.String() });
  const others = defineOperations('x', {
    list: operation('GET', '/x/{id}', {
      summary: '',
      needs: 'signed-in',
      params,
      reply: Type.Array(Type.Null()),
    }),
    put: operation('PUT', '/x/{id}', { summary: '', needs: 'signed-in', params, reply: Type.Null() }),
  });
  assert.equal(readerOf(others.put, others), undefined);
  assert.equal(readerOf(operations.createProject), undefined);
  assert.equal(readerOf(operations.moveProject), operations.getProject);
});

test('files, tests of what others answer, and calls without credentials cannot be repeated under a key', () => {
  assert.equal(isRepeatable(operations.createProject), true);
  assert.equal(isRepeatable(operations.uploadSource), false);
  assert.equal(isRepeatable(operations.getProject), false);
  for (const name of ['testCredential', 'testNotificationEndpoint', 'testApprovalPolicy'] as const)
    assert.equal(isRepeatable(operations[name]), false, name);
  assert.equal(isRepeatable({ ...operations.createProject, needs: 'nothing' } as Operation), false);
});
