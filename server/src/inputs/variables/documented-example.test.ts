import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { organizationId, projectId, ok, add, createIdle } = await startTests();
const page = readFileSync(new URL('../../../../docs/use/variables.md', import.meta.url), 'utf8');

/** Cells of the table that follows a line of the page. */
function tableAfter(line: string): string[][] {
  const lines = page.slice(page.indexOf(line) + line.length).split('\n');
  const start = lines.findIndex((each) => each.startsWith('|')) + 2;
  const length = lines.slice(start).findIndex((each) => !each.startsWith('|'));
  return lines.slice(start, start + length).map((each) =>
    each
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

test('the worked example of docs/use/variables.md comes out as it says', async () => {
  const team = await add('Project', 'team', { parentProjectId: projectId });
  const environment = await createIdle({ projectId: team.id });
  const scopes: Record<string, object> = {
    Organization: { scope: 'GLOBAL' },
    Template: { scope: 'BLUEPRINT', scopeId: environment.blueprintId },
    'Project platform': { scope: 'PROJECT', scopeId: projectId },
    'Project platform / team': { scope: 'PROJECT', scopeId: team.id },
    Environment: { scope: 'ENVIRONMENT', scopeId: environment.id },
  };
  const defined = tableAfter('These variables are defined');
  assert.ok(defined.length >= 8);
  // From the innermost: what is read-only can still be stored before it is.
  for (const [place = '', name, value, marks = ''] of defined.toReversed())
    await ok('saveVariables', {
      body: [
        {
          ...scopes[place],
          organizationId,
          name,
          type: 0,
          value,
          isReadonly: marks.includes('read-only'),
          isRequired: marks.includes('required'),
        },
      ],
    });
  const rows = await ok('listVariables', { query: { organizationId, environmentId: environment.id } });
  const shown = rows.map(({ name, value, scope, overwrites }) => [
    name,
    value ?? '',
    scope,
    overwrites ? `${overwrites.scope}: ${overwrites.value ?? ''}` : 'nothing',
  ]);
  assert.deepEqual(shown, tableAfter('The environment gets'));
});
