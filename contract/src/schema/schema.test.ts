import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { jsonSchemaOf, shapesIn, typesOf } from '../documents/describe-schema.ts';
import { operations } from '../operations.ts';
import { Variable } from '../variables/shapes.ts';
import { nullRows, nullsPage } from './nulls.ts';
import type { Operation } from './operation.ts';
import { nullable, replyObject } from './schema.ts';

const replies = (Object.values(operations) as Operation[]).map(({ reply }) => jsonSchemaOf(reply));
const replyShapes = shapesIn([...replies, jsonSchemaOf(Variable)]);

describe('nulls of replies', () => {
  it('are in the table and nowhere else', () => {
    const found = [...replyShapes].flatMap(([schema, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, each]) =>
        typesOf(each).includes('null') ? [`${schema}.${field}`] : [],
      ),
    );
    const listed = nullRows.map(({ schema, field }) => `${schema}.${field}`);
    const same = (name: string) =>
      name.replace('StartedDeployment', 'Deployment').replace('CreatedEnvironment', 'Environment');
    assert.deepEqual([...new Set(found.map(same))].sort(), [...listed].sort());
  });

  it('are printed with their meaning', () => {
    const page = nullsPage();
    for (const { schema, field, meaning } of nullRows)
      assert.ok(page.includes(`| ${schema} | \`${field}\` | ${meaning} |`));
  });

  it('refuse a table that names a field which a schema does not have', () => {
    assert.throws(
      () => replyObject('Organization', { maxTtl: Type.String() }),
      /lists Organization.defaultTtl/,
    );
  });
});

describe('nullable schema', () => {
  it('accepts null in addition to its own values, in one schema', () => {
    assert.deepEqual(jsonSchemaOf(nullable(Type.String({ minLength: 1 }))), {
      type: ['string', 'null'],
      minLength: 1,
    });
    assert.deepEqual(jsonSchemaOf(nullable(nullable(Type.Unsafe<'a'>({ type: 'string', enum: ['a'] })))), {
      type: ['string', 'null'],
      enum: ['a', null],
    });
  });
});
