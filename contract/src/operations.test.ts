import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { jsonSchemaOf } from './documents/describe-schema.ts';
import { interfaceOperations } from './documents/interface-operations.ts';
import { operations } from './operations.ts';
import { routes } from './routes.ts';
import type { Operation, Subject } from './schema/operation.ts';
import { openOperations } from './system/operations.ts';

const all = Object.entries(operations) as [string, Operation][];
const fields = (schema: TSchema | undefined) =>
  Object.keys((schema && jsonSchemaOf(schema).properties) ?? {});

describe('operations', () => {
  it('stand under their own name and have the route of the table', () => {
    for (const [name, operation] of all) {
      assert.equal(operation.name, name);
    }
    assert.deepEqual(
      all.map(([name, { method, path }]) => [name, [method, path]]),
      Object.entries(routes),
    );
    assert.equal(
      new Set(all.map(([, { method, path }]) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)).size,
      all.length,
    );
  });

  it('describe exactly the parameters of their path', () => {
    for (const [name, { path, params }] of all)
      assert.deepEqual(
        fields(params),
        [...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field),
        name,
      );
  });

  it('name the user whose right is checked, in a field that they have', () => {
    for (const [name, operation] of all) {
      const isOpen = operation.needs === 'signed-in' || operation.needs === 'nothing';
      assert.equal(operation.subject === undefined, isOpen, name);
      for (const subject of [operation.subject ?? []].flat() as Subject[])
        assert.ok(fields(operation[subject.in]).includes(subject.field), name);
    }
  });

  it('refuse unknown body fields by name, nested ones included', () => {
    const open: string[] = [];
    const visit = (path: string, schema: ReturnType<typeof jsonSchemaOf>): void => {
      if (schema.properties && schema.additionalProperties !== false) open.push(path);
      for (const [name, field] of Object.entries(schema.properties ?? {})) visit(`${path}.${name}`, field);
      if (schema.items) visit(`${path}[]`, schema.items);
      if (typeof schema.additionalProperties === 'object') visit(`${path}{}`, schema.additionalProperties);
    };
    for (const [name, { body }] of all) if (body) visit(name, jsonSchemaOf(body));
    assert.deepEqual(open, []);
  });

  it('are open to everybody only where the written list says so', () => {
    const open = all
      .filter(([, { needs }]) => needs === 'nothing')
      .map(([, { method, path }]) => `${method} /api${path}`);
    const listed = openOperations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(
      open.filter((route) => !listed.includes(route)),
      [],
    );
    assert.deepEqual(
      listed.filter((route) => route.includes('/api/') && !open.includes(route)),
      [],
    );
  });

  it('are marked as the interface’s where it lists them', () => {
    const listed = new Set(interfaceOperations.map(([, method, path]) => `${method} ${path}`));
    assert.equal(listed.size, 20);
    for (const [name, { method, path, inInterface }] of all)
      assert.equal(inInterface ?? false, listed.has(`${method} ${path}`), name);
  });
});
