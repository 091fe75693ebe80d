import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { families } from '../../server/src/families.ts';
import { repositoryFiles, root, textOf } from '../tree/repository.ts';
import { otherTables } from './table-names.ts';

/** Owner of each table: a folder of `server/src/rows`. */
const owners = new Map<string, string>(
  families.flatMap(({ name, tables = [] }) => tables.map((table) => [table, name] as const)),
);

/** Tables of what the families are built on: each is named by one file. */
const foundations: Readonly<Record<string, readonly string[]>> = {
  'audit/audit-store.ts': ['audit_event'],
  'effects/effect-store.ts': ['effect'],
  'http/idempotency-key-store.ts': ['idempotency_key'],
  'queue/job-store.ts': ['job'],
  'secrets/installation-store.ts': ['installation'],
};

/** Functions of all stores that get the name of a table. */
const shared = Array.from(
  readFileSync(join(root, 'server/src/rows/row-queries.ts'), 'utf8').matchAll(/^export function (\w+)/gm),
  ([, name = '']) => name,
);
const calls = new RegExp(
  `\\b(?:selectFrom|insertInto|updateTable|deleteFrom|(?:inner|left|right|full)Join|using|${shared.join('|')})\\(\\s*\\[?\\s*'([a-z_]+)`,
  'g',
);
const words = /\b(?:from|join|update|insert into|delete from)\s+([a-z_]+)\b/g;

/** Tables that a file names in SQL. */
function tablesIn(text: string): string[] {
  const named = Array.from(text.matchAll(calls), ([, table = '']) => table);
  for (const [, sql = ''] of text.matchAll(/\b(?:sql|statement)(?:<[^`]*>)?\(?`([^`]*)`/g))
    named.push(...Array.from(sql.matchAll(words), ([, table = '']) => table));
  return [...new Set(named)].filter((table) => owners.has(table)).toSorted();
}

/** By file, the tables that it names although it is not a store of the family that owns them. */
function otherUsers(): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const path of repositoryFiles()) {
    if (!/^server\/src\/.*\.ts$/.test(path) || path.endsWith('.test.ts')) continue;
    const file = path.replace(/^server\/src\/(rows\/)?/, '');
    const tables = tablesIn(textOf(path) ?? '').filter((table) => {
      const isOwn = file.endsWith('-store.ts') && file.startsWith(`${owners.get(table)}/`);
      return !isOwn && !foundations[file]?.includes(table);
    });
    if (tables.length > 0) found[file] = tables;
  }
  return found;
}

test('every table belongs to exactly one family', () => {
  const schema = readFileSync(join(root, 'server/src/rows/schema.ts'), 'utf8');
  const list = schema.slice(schema.indexOf('export interface Schema'));
  const tables = Array.from(list.matchAll(/^ {2}(\w+): /gm), ([, table = '']) => table);
  const declared = families.flatMap(({ tables: own = [] }) => own);
  assert.deepEqual([...declared].toSorted(), tables.toSorted());
});

test('only a store of the family that owns a table names it in SQL', () => {
  assert.deepEqual(
    otherUsers(),
    otherTables,
    'move the query to the store; a file that has been mended leaves tools/house/table-names.ts',
  );
});
