import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { operations } from '../operations.ts';
import { acceptsEmptyText, clearable, clearedBy, emptyFieldsOf, type FieldSchema } from './empty-fields.ts';
import type { Operation } from './operation.ts';
import { closed, Flag, mapOf, Name, nullable, oneOrMany, orNull, Text } from './schema.ts';

/** JSON that an operation with one field receives for a value of it. */
function resolved(field: TSchema, value: unknown): string {
  const body = { field: value };
  emptyFieldsOf(closed({ field }))(body);
  return JSON.stringify(body);
}

describe('fields of a request without a value', () => {
  it('are absent if they are null', () => {
    for (const schema of [Flag, Text, Name, Type.Array(Text), closed({})])
      assert.equal(resolved(Type.Optional(schema), null), '{}');
  });

  it('are absent if they are an empty text that the field does not accept', () => {
    for (const schema of [
      Name,
      Type.String({ pattern: '^a+$' }),
      Type.String({ format: 'date-time' }),
      Type.Unsafe<string>({ type: 'string', enum: ['a'] }),
      Type.Literal('a'),
      nullable(Name),
    ])
      assert.equal(resolved(Type.Optional(schema), ''), '{}');
  });

  it('keep a null or an empty text that the field accepts, and everything that is required', () => {
    assert.equal(resolved(orNull(Name), null), '{"field":null}');
    assert.equal(resolved(Type.Optional(Text), ''), '{"field":""}');
    assert.equal(resolved(Type.Optional(Type.String({ pattern: '^a*$' })), ''), '{"field":""}');
    assert.equal(resolved(Type.Optional(Flag), ''), '{"field":""}');
    for (const value of [null, '']) assert.equal(resolved(Name, value), JSON.stringify({ field: value }));
  });

  it('get the value that clears them, each request its own', () => {
    assert.equal(resolved(Type.Optional(clearable(Flag, true)), null), '{"field":true}');
    assert.equal(resolved(Type.Optional(clearable(nullable(Name), null)), null), '{"field":null}');
    assert.equal(resolved(Type.Optional(clearable(nullable(Type.Array(Text)), [])), null), '{"field":[]}');
    const resolve = emptyFieldsOf(closed({ field: Type.Optional(clearable(Type.Array(Text), [])) }));
    const [one, other] = [{ field: null as string[] | null }, { field: null as string[] | null }];
    resolve(one);
    one.field?.push('a');
    resolve(other);
    assert.deepEqual(other, { field: [] });
  });

  it('are cleared by null only: an empty text leaves them alone', () => {
    assert.equal(resolved(Type.Optional(clearable(nullable(Name), null)), ''), '{}');
    assert.equal(resolved(Type.Optional(clearable(Type.Literal('a'), 'a')), ''), '{}');
    assert.equal(resolved(Type.Optional(clearable(Text, '')), ''), '{"field":""}');
  });

  it('accept an empty text only where it is what clears them', () => {
    const wrong = Object.values(operations as Readonly<Record<string, Operation>>).flatMap(({ name, body }) =>
      Object.entries((body as FieldSchema | undefined)?.properties ?? {})
        .filter(([, field]) => clearedBy(field) !== undefined && clearedBy(field) !== '')
        .filter(([, field]) => [field.type].flat().includes('string') && acceptsEmptyText(field))
        .map(([field]) => `${name}.${field}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('are found at any depth: in objects, arrays, maps, and one of many', () => {
    const Inner = closed({ a: Type.Optional(Text), b: Type.Optional(Text) });
    const value = { a: null, b: 'b' };
    const inside = '{"b":"b"}';
    assert.equal(resolved(Inner, value), `{"field":${inside}}`);
    assert.equal(resolved(orNull(Type.Array(Inner)), [{ ...value }, null]), `{"field":[${inside},null]}`);
    assert.equal(resolved(mapOf(Inner), { __proto__: null, x: { ...value } }), `{"field":{"x":${inside}}}`);
    assert.equal(resolved(oneOrMany(Inner, 3), { ...value }), `{"field":${inside}}`);
    assert.equal(resolved(oneOrMany(Inner, 3), [{ ...value }]), `{"field":[${inside}]}`);
  });

  it('do not matter in a body without fields', () => {
    for (const body of [null, 'text', 7, [null]]) {
      const before = JSON.stringify(body);
      emptyFieldsOf(closed({ field: Type.Optional(Text) }))(body);
      assert.equal(JSON.stringify(body), before);
    }
  });
});
