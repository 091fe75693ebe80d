import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDraft } from './draft.ts';
import { commandWords } from './environment-words.ts';

test('the command creates the same environment, and has no sensitive value in it', () => {
  const source = {
    ...emptyDraft.source,
    type: 'helm',
    repository: 'oci://charts.example',
    isHelmRepository: true,
    helmChartName: 'web',
  } as const;
  const draft = {
    ...emptyDraft,
    from: 'repository',
    source,
    name: 'my shop',
    projectId: 'p',
    k8sNamespace: 'shop',
    lifetime: 'hours',
    hours: '5',
    requiresApproval: false,
    tags: ['a'],
  } as const;
  const changes = [
    { name: 'ENVARIUM_HELM_SET_replicas', type: 0, value: '@2' },
    { name: 'PASSWORD', type: 0, value: 'secret', isSensitive: true },
    { name: 'zones', type: 1, value: '["a"]', schema: { format: 'JSON' } },
  ] as const;
  assert.deepEqual(commandWords(draft, 'helm', [...changes]), [
    ...['environment', 'create', 'my shop', '--project', 'p', '--namespace', 'shop', '--type', 'helm'],
    ...['--repository', 'oci://charts.example', '--helm-chart', 'web', '--no-require-approval'],
    ...['--ttl', '5h', '--tag', 'a', '--env', 'ENVARIUM_HELM_SET_replicas=@@2'],
    ...['--env', 'PASSWORD=@file', '--sensitive', 'PASSWORD', '--json-var', 'zones=["a"]'],
  ]);
});
