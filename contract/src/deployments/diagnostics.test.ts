import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Diagnostic, findingsText, joinDiagnostics, mostDiagnostics } from './diagnostics.ts';

const each = (severity: Diagnostic['severity'], text: string, step = 'tf:plan'): Diagnostic => ({
  severity,
  step,
  text,
});

test('each diagnostic is there once, errors first, and no warning displaces one', () => {
  const found = joinDiagnostics([
    each('warning', 'old'),
    each('check', 'no answer'),
    each('error', 'one'),
    each('warning', 'old', 'tf:apply'),
    each('error', 'two'),
  ]);
  assert.deepEqual(
    found.map(({ severity, step, text }) => `${severity} ${step} ${text}`),
    ['error tf:plan one', 'error tf:plan two', 'check tf:plan no answer', 'warning tf:plan old'],
  );
  const warnings = Array.from({ length: 500 }, (_, at) => each('warning', `w${at}`));
  const many = joinDiagnostics([...warnings, each('error', 'last')]);
  assert.deepEqual([many.length, many[0]?.text], [mostDiagnostics, 'last']);
});

test('failed checks and warnings are counted in words', () => {
  assert.equal(findingsText([each('error', 'e')]), '');
  assert.equal(findingsText([each('check', 'a')]), '1 failed check');
  assert.equal(
    findingsText([each('check', 'a'), each('check', 'b'), each('warning', 'c')]),
    '2 failed checks, 1 warning',
  );
});
