import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  draftField,
  emptyDraft,
  isTouched,
  repositoryBody,
  scheduleBody,
  settingsStepErrors,
  sourceStepErrors,
  stepOf,
  templateBody,
} from './draft.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const draft = { ...emptyDraft, projectId: 'p', name: ' web ' };

test('a request from a template has only what was entered', () => {
  assert.deepEqual(templateBody({ ...draft, templateId: 't', templateRevision: ' v2 ' }, 'terraform', []), {
    name: 'web',
    projectId: 'p',
    deployRequest: { blueprintId: 't', blueprintRevision: 'v2' },
  });
});

test('a request from a repository has the settings of its tool and no others', () => {
  const source = {
    ...draft.source,
    type: 'k8s',
    repository: 'https://git.example/x',
    fileName: 'left over',
    opentofuVersion: '1.9.0',
  } as const;
  const body = repositoryBody(
    { ...draft, source, k8sNamespace: 'shop', lifetime: 'hours', hours: '3' },
    'o',
    [],
  );
  assert.deepEqual(body, {
    name: 'web',
    projectId: 'p',
    ttl: { type: 'HOURS', value: '3' },
    k8sNamespace: 'shop',
    repository: 'https://git.example/x',
    type: 'k8s',
    organizationId: 'o',
  });
});

test('each field that is wrong says so, and the first step needs the project and the code', () => {
  assert.deepEqual(Object.keys(sourceStepErrors(emptyDraft)), ['projectId', 'templateId']);
  assert.deepEqual(Object.keys(sourceStepErrors({ ...draft, from: 'repository' })), ['source.repository']);
  const wrong = {
    ...draft,
    name: ' ',
    workspaceName: 'a b',
    k8sNamespace: 'Team_A',
    lifetime: 'hours',
    hours: '1.5',
    driftCron: '* * *',
  } as const;
  assert.deepEqual(Object.keys(settingsStepErrors(wrong, 'helm', now)).toSorted(), [
    'driftCron',
    'hours',
    'k8sNamespace',
    'name',
    'workspaceName',
  ]);
  assert.deepEqual(
    Object.keys(settingsStepErrors({ ...draft, lifetime: 'date', date: '2029-12-31T00:00' }, 'k8s', now)),
    ['date'],
  );
  assert.deepEqual(settingsStepErrors(draft, 'terraform', now), {});
});

test('a refusal is shown at the field that it names, on its step', () => {
  const fields = [
    ['name', 'name', 1],
    ['ttl.value', 'hours', 1],
    ['driftDetectionRequest.cron', 'driftCron', 1],
    ['deployRequest.blueprintId', 'templateId', 0],
    ['terraformVersion', 'source.terraformVersion', 0],
    ['sshKeys.0.id', 'source.sshKeyId', 0],
    ['configurationChanges.3.value', 'edits', 2],
  ] as const;
  for (const [named, own, step] of fields) {
    assert.equal(draftField(named, draft), own);
    assert.equal(stepOf(own), step);
  }
  assert.equal(draftField('unknown', draft), undefined);
});

test('schedules are sent only where there are some', () => {
  assert.equal(scheduleBody(draft), null);
  assert.deepEqual(scheduleBody({ ...draft, destroyCron: ' 0 20 * * * ' }), {
    destroy: { cron: '0 20 * * *', enabled: true },
  });
});

test('a draft that only has the project of the address counts as untouched', () => {
  assert.equal(isTouched({ ...emptyDraft, projectId: 'p' }), false);
  assert.equal(isTouched(draft), true);
});
