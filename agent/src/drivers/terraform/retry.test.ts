import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TerraformChange, TerraformPlan, TerraformResourceChange } from './plan-json.ts';
import { beyondApproved } from './retry.ts';

type Row = Partial<Omit<TerraformResourceChange, 'change'>> & {
  readonly change: Partial<TerraformChange> & Pick<TerraformChange, 'actions'>;
};

function row({ change, ...more }: Row): TerraformResourceChange {
  return {
    address: 'null_resource.a',
    mode: 'managed',
    type: 'null_resource',
    name: 'a',
    provider_name: 'p',
    ...more,
    change,
  };
}

function plan(rows: readonly Row[], outputs: Record<string, TerraformChange> = {}): TerraformPlan {
  return {
    format_version: '1.2',
    terraform_version: '1.11.4',
    resource_changes: rows.map(row),
    output_changes: outputs,
  };
}

const create = {
  actions: ['create'],
  before: null,
  after: { size: 1, tags: { a: 'b' } },
  after_unknown: { id: true, tags: {} },
} as const;
const made = { ...create, after: { ...create.after, id: 'i-1' }, after_unknown: {} } as const;
const replace = { ...create, actions: ['delete', 'create'], before: { size: 0 } } as const;

const within: readonly (readonly [string, Row[], Row[]])[] = [
  ['nothing is left', [{ change: create }], [{ change: { actions: ['no-op'] } }]],
  ['what was not begun', [{ change: create }], [{ change: create }]],
  ['what was unknown and is known by now', [{ change: create }], [{ change: made }]],
  [
    'what is half made, again',
    [{ change: create }],
    [{ action_reason: 'replace_because_tainted', change: { ...replace, before: made.after } }],
  ],
  ['the second half of a replacement', [{ change: replace }], [{ change: create }]],
  [
    'what a replacement left over',
    [{ change: { ...replace, actions: ['create', 'delete'] } }],
    [{ deposed: 'd1', change: { actions: ['delete'] } }],
  ],
  [
    'a deletion',
    [{ change: { actions: ['delete'], before: {} } }],
    [{ change: { actions: ['delete'], before: {} } }],
  ],
  ['data that is read', [], [{ mode: 'data', change: { actions: ['read'] } }]],
];

for (const [what, approved, now] of within) {
  test(`a new plan is within the approved one: ${what}`, () =>
    assert.equal(beyondApproved(plan(approved), plan(now)), null));
}

const beyond: readonly (readonly [string, Row[], Row[], RegExp])[] = [
  [
    'another resource',
    [{ change: create }],
    [{ address: 'null_resource.b', change: create }],
    /^create null_resource\.b$/,
  ],
  [
    'another value',
    [{ change: create }],
    [{ change: { ...create, after: { size: 2, tags: { a: 'b' } } } }],
    /with other values/,
  ],
  [
    'another nested value',
    [{ change: create }],
    [{ change: { ...create, after: { size: 1, tags: { a: 'b', c: 'd' } } } }],
    /other values/,
  ],
  [
    'a value that is not known any more',
    [{ change: create }],
    [{ change: { ...create, after: { tags: { a: 'b' } }, after_unknown: { size: true } } }],
    /other values/,
  ],
  [
    'a deletion',
    [{ change: { actions: ['update'], after: {} } }],
    [{ change: { actions: ['delete'] } }],
    /^delete null_resource\.a$/,
  ],
  [
    'a replacement instead of a change',
    [{ change: { actions: ['update'], after: {} } }],
    [{ change: replace }],
    /^delete and create/,
  ],
  [
    'a replacement of what was made, for another reason',
    [{ change: create }],
    [{ change: replace }],
    /^delete and create/,
  ],
  [
    'what was to stay as it is',
    [{ change: { actions: ['no-op'] } }],
    [{ change: { actions: ['update'], after: {} } }],
    /^update/,
  ],
  [
    'a left-over of something untouched',
    [],
    [{ deposed: 'd1', change: { actions: ['delete'] } }],
    /deposed object d1/,
  ],
  [
    'an import',
    [{ change: { actions: ['no-op'] } }],
    [{ change: { actions: ['no-op'], importing: { id: 'x' } } }],
    /^import/,
  ],
  [
    'an import of something else',
    [{ change: { actions: ['no-op'], importing: { id: 'y' } } }],
    [{ change: { actions: ['no-op'], importing: { id: 'x' } } }],
    /^import/,
  ],
];

for (const [what, approved, now, message] of beyond) {
  test(`a new plan exceeds the approved one: ${what}`, () =>
    assert.match(beyondApproved(plan(approved), plan(now)) ?? '', message));
}

test('an output may only change as approved', () => {
  const unknown = { actions: ['create'], before: null, after_unknown: true } as const;
  const known = (after: string) =>
    ({ actions: ['create'], before: null, after, after_unknown: false }) as const;
  assert.equal(beyondApproved(plan([], { id: unknown }), plan([], { id: known('i-1') })), null);
  assert.equal(beyondApproved(plan([], { id: known('a') }), plan([], { id: known('a') })), null);
  assert.equal(
    beyondApproved(plan([], { id: known('a') }), plan([], { id: known('b') })),
    'change output id',
  );
  assert.equal(beyondApproved(plan([]), plan([], { id: known('b') })), 'change output id');
});
