/** Results of helm's own merge in the plan: fields that exclude each other, and marks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { actionsOf, type HelmStage, helmStage, rowOf, withHelm } from '../../../testing/charts/helm-stage.ts';
import { sharedCluster } from '../../../testing/cluster/cluster.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import type { Ran } from '../../../testing/runner-setup.ts';
import { type MergeRule, mergeRuleOf } from '../cluster/merge-rules.ts';

const needs = withHelm();
const cluster = sharedCluster();

const chart = { 'Chart.yaml': 'apiVersion: v2\nname: merging\nversion: 0.1.0\n' };

type Parts = Readonly<Record<string, unknown>>;

function manifest(apiVersion: string, kind: string, name: string, rest: Parts): string {
  return JSON.stringify({
    apiVersion,
    kind,
    metadata: { name, ...recordOf(rest['metadata']) },
    ...without(rest),
  });
}

function without({ metadata: _, ...rest }: Parts): Parts {
  return rest;
}

/** A Deployment whose pods need nothing to become ready in a cluster that plays it. */
function deployment(strategy: Parts, container: Parts, volumes: readonly Parts[]): string {
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image: 'registry.test/web:1', ...container }];
  return manifest('apps/v1', 'Deployment', 'web', {
    spec: {
      strategy,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, volumes } },
    },
  });
}

const http = { httpGet: { path: '/', port: 80 } };
const first = {
  'templates/web.yaml': deployment(
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    {
      livenessProbe: http,
      readinessProbe: http,
      lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
      env: [
        { name: 'TOKEN', value: 'text' },
        { name: 'OLD', value: '1' },
      ],
      ports: [{ name: 'http', containerPort: 80 }],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
    [{ name: 'data', emptyDir: {} }],
  ),
  'templates/service.yaml': manifest('v1', 'Service', 'web', {
    spec: {
      type: 'NodePort',
      selector: { app: 'web' },
      ports: [{ name: 'http', port: 80, targetPort: 'http' }],
    },
  }),
  'templates/budget.yaml': manifest('policy/v1', 'PodDisruptionBudget', 'web', {
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  }),
  'templates/policy.yaml': manifest('networking.k8s.io/v1', 'NetworkPolicy', 'web', {
    spec: {
      podSelector: {},
      ingress: [{ from: [{ podSelector: { matchLabels: { a: 'b' } } }] }],
    },
  }),
};
const second = {
  'templates/web.yaml': deployment(
    { type: 'Recreate' },
    {
      livenessProbe: { tcpSocket: { port: 80 } },
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 5 },
      lifecycle: { preStop: { httpGet: { path: '/stop', port: 80 } } },
      env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token', optional: true } } }],
      ports: [{ name: 'http', containerPort: 8080 }],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
    [{ name: 'data', configMap: { name: 'data', optional: true } }],
  ),
  'templates/service.yaml': manifest('v1', 'Service', 'web', {
    spec: {
      type: 'ClusterIP',
      selector: { app: 'web', tier: 'front' },
      ports: [{ name: 'http', port: 8080, targetPort: 'http' }],
    },
  }),
  'templates/budget.yaml': manifest('policy/v1', 'PodDisruptionBudget', 'web', {
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web', tier: 'front' } } },
  }),
  'templates/policy.yaml': manifest('networking.k8s.io/v1', 'NetworkPolicy', 'web', {
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] },
  }),
};

/** The value at the path of a row's attribute, where elements of lists are named. */
function valueAt(object: unknown, path: string): unknown {
  return path.split(/[.[\]]+/).reduce((value: unknown, part) => {
    if (part === '') return value;
    if (Array.isArray(value))
      return value.find((each) => recordOf(each)['name'] === part) ?? (value[Number(part)] as unknown);
    return isRecord(value) ? value[part] : undefined;
  }, object);
}

/** Everything that a plan says of an object is so after the apply. */
async function assertTrue(stage: HelmStage, planned: Ran, path: string, name: string): Promise<void> {
  const row = rowOf(planned, path);
  assert.ok(row !== undefined && row.attributes.length > 0, `no changes of ${path}`);
  const live: unknown = JSON.parse(await stage.namespace.kubectl(['get', name, '-o', 'json']));
  for (const { name: field, after } of row.attributes)
    assert.deepEqual(valueAt(live, field), after, `${path}: ${field}`);
}

test('fields that exclude each other are switched as helm switches them', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), { ...chart, ...first });
  stage.namespace.playReadiness();
  await stage.deploy();
  stage.setup.commit(second);
  const { planned } = await stage.deploy();
  assert.deepEqual(actionsOf(planned), {
    'apps/v1/Deployment/web': 'update',
    'v1/Service/web': 'update',
    'policy/v1/PodDisruptionBudget/web': 'update',
    'networking.k8s.io/v1/NetworkPolicy/web': 'update',
  });
  const attributes = rowOf(planned, 'apps/v1/Deployment/web')?.attributes ?? [];
  const strategy = attributes.filter(({ name }) => name.startsWith('spec.strategy'));
  assert.deepEqual(strategy, [
    { name: 'spec.strategy.rollingUpdate', before: { maxSurge: 1, maxUnavailable: 0 } },
    { name: 'spec.strategy.type', before: 'RollingUpdate', after: 'Recreate' },
  ]);
  await assertTrue(stage, planned, 'apps/v1/Deployment/web', 'deployment/web');
  await assertTrue(stage, planned, 'v1/Service/web', 'service/web');
  await assertTrue(stage, planned, 'policy/v1/PodDisruptionBudget/web', 'pdb/web');
  const same = await stage.run(stage.job());
  assert.deepEqual([same.outcome.hasChanges, actionsOf(same)], [false, {}]);
  stage.setup.commit(first);
  await stage.deploy();
});

test(
  'empty annotations and labels, and lost marks of helm, are neither change nor drift',
  needs,
  async (t) => {
    const stage = await helmStage(t, await cluster(), {
      ...chart,
      'templates/empty.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: empty\n  annotations:\n  labels:\n---\n' +
        'apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: empty\n  annotations: {}\n  labels: {}\n',
    });
    await stage.deploy();
    const { kubectl } = stage.namespace;
    const drift = () => stage.run(stage.job({ type: 'driftDetection' }));
    assert.deepEqual([(await drift()).outcome.hasResourceChanges, actionsOf(await drift())], [false, {}]);
    await kubectl(['label', 'serviceaccount', 'empty', 'app.kubernetes.io/managed-by-']);
    const found = await drift();
    assert.deepEqual([found.outcome.hasResourceChanges, found.outcome.plan?.settled ?? []], [false, []]);
  },
);

test(
  'all objects that the cluster refuses are reported together, and a drift run shows it',
  needs,
  async (t) => {
    const stage = await helmStage(t, await cluster(), { ...chart, ...first });
    stage.namespace.playReadiness();
    await stage.deploy();
    // No one can switch this back but by removing the other one: helm knows nothing of it.
    const patch = [
      { op: 'remove', path: '/spec/template/spec/containers/0/livenessProbe/httpGet' },
      { op: 'add', path: '/spec/template/spec/containers/0/livenessProbe/tcpSocket', value: { port: 80 } },
    ];
    await stage.namespace.kubectl([
      'patch',
      'deployment',
      'web',
      '--type=json',
      `--patch=${JSON.stringify(patch)}`,
    ]);
    const drifted = await expectResult('planned', stage.run(stage.job({ type: 'driftDetection' })));
    const row = rowOf(drifted, 'apps/v1/Deployment/web');
    assert.equal(row?.driftByCloud, true);
    assert.match(JSON.stringify(row.attributes), /livenessProbe\.httpGet/);
    stage.setup.commit({
      'templates/service.yaml': manifest('v1', 'Service', 'web', {
        spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ name: 'http', port: 70_000 }] },
      }),
    });
    const refused = await expectResult('failed', stage.run(stage.job()));
    const message = refused.outcome.error?.message ?? '';
    assert.match(message, /may not specify more than 1 handler type/);
    assert.match(message, /spec\.ports\[0\]\.port: Invalid value: 70000/);
  },
);

/** A type in the description of an API. */
interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
}

type Definitions = Readonly<Record<string, Schema>>;

function resolved(definitions: Definitions, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : { ...definitions[name], ...schema };
}

/** The fields of a type that are merged in their own way, by their paths; what is replaced as a whole is not entered. */
function describedFields(definitions: Definitions, schema: Schema, path: string): [string, string][] {
  return Object.entries(resolved(definitions, schema).properties ?? {}).flatMap(([key, field]) => {
    if (path === '' && key === 'status') return [];
    const strategy = field['x-kubernetes-patch-strategy'] ?? '';
    const own: [string, string][] =
      strategy === ''
        ? []
        : [[path + key, `${strategy} ${field['x-kubernetes-patch-merge-key'] ?? ''}`.trim()]];
    if (field.items !== undefined && !strategy.includes('merge')) return own;
    // Types of schemas contain themselves.
    const isDeep = path.split('.').length > 12;
    return [...own, ...(isDeep ? [] : describedFields(definitions, field.items ?? field, `${path}${key}.`))];
  });
}

function ruledFields({ fields = {} }: MergeRule, path: string): [string, string][] {
  return Object.entries(fields).flatMap(([key, rule]) => {
    const words = [
      ...(rule.mergeKey !== undefined || rule.isSet ? ['merge'] : []),
      ...(rule.retainsKeys ? ['retainKeys'] : []),
      ...(rule.isReplaced ? ['replace'] : []),
    ];
    const own: [string, string][] =
      words.length === 0 ? [] : [[path + key, `${words.join(',')} ${rule.mergeKey ?? ''}`.trim()]];
    return [...own, ...ruledFields(rule, `${path}${key}.`)];
  });
}

test('fields are merged as the API server describes them', needs, async () => {
  const { definitions } = JSON.parse(await (await cluster()).kubectl(['get', '--raw', '/openapi/v2'])) as {
    definitions: Definitions;
  };
  const kinds = Object.values(definitions).flatMap((schema) => {
    const names = schema['x-kubernetes-group-version-kind'] ?? [];
    const [name] = names;
    // Other types than those of objects have no metadata.
    const isObject =
      names.length === 1 && schema.properties?.['metadata']?.$ref?.endsWith('.ObjectMeta') === true;
    if (name === undefined || !isObject) return [];
    const apiVersion = name.group === '' ? name.version : `${name.group}/${name.version}`;
    return [{ apiVersion, kind: name.kind, schema }];
  });
  assert.ok(kinds.length > 50, `${kinds.length} kinds`);
  for (const { apiVersion, kind, schema } of kinds) {
    const rule = mergeRuleOf({ apiVersion, kind });
    if (rule === null) continue;
    assert.deepEqual(
      ruledFields(rule, '').sort(),
      describedFields(definitions, schema, '').sort(),
      `${apiVersion} ${kind}`,
    );
  }
});
