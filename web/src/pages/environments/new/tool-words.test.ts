import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CreatableTemplateType } from '#contract/schema/template-types.ts';
import { toolWords } from './tool-words.ts';

test('a tool without words of its own is described by its type', () => {
  assert.deepEqual(toolWords('sham' as CreatableTemplateType), {
    plan: ['sham shows what would change'],
    apply: 'sham applies the changes',
    covers: 'the plan',
  });
  assert.equal(toolWords('workflow'), undefined);
});
