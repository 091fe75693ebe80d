/** Manifests on their journey: those of the example, with names that do not depend on their contents. */
import { readExample } from '../../tools/examples.ts';
import { clusterWorlds, pending, withClusterAnd } from './cluster-world.ts';
import { journey } from './journey.ts';
import type { JourneyScenario } from './traveller.ts';

const secret = 'planted-secret-of-the-journey';
const kustomization = `resources:
  - deployment.yaml
  - service.yaml
configMapGenerator:
  - name: shop-settings
    envs:
      - envarium.env
  - name: shop-greeting
    files:
      - greeting
generatorOptions:
  disableNameSuffixHash: true
`;
const worldOf = clusterWorlds();

journey({
  type: 'k8s',
  needs: withClusterAnd(),
  settings: async () => ({}),
  async arrive(t): Promise<JourneyScenario> {
    const { namespace, variables, ...cluster } = await worldOf(t);
    const files = readExample('k8s');
    const deployment = files['deployment.yaml'] ?? '';
    const row = (action: string, kind: string, name: string) =>
      `${action} ${kind === 'Deployment' ? 'apps/v1' : 'v1'}/${kind}/${namespace.name}/${name}`;
    const rows = (action: string) => [
      row(action, 'Deployment', 'shop'),
      row(action, 'ConfigMap', 'shop-greeting'),
      row(action, 'ConfigMap', 'shop-settings'),
      row(action, 'Service', 'shop'),
    ];
    const world = (greeting: string, replicas = 2) => ({
      'ConfigMap/shop-settings': secret,
      'ConfigMap/shop-greeting': greeting,
      'Deployment/shop': `${replicas} replicas`,
      'Service/shop': '',
    });
    const template = '  template:\n    metadata:\n';
    return {
      files: { ...files, 'kustomization.yaml': kustomization, greeting: 'good morning' },
      secret,
      request: {
        workspaceName: 'journey',
        k8sNamespace: namespace.name,
        configurationChanges: [...variables, { name: 'password', value: secret, type: 1, isSensitive: true }],
      },
      world: cluster.world,
      create: {
        rows: rows('create'),
        summary: { added: 4, changed: 0, destroyed: 0 },
        world: world('good morning'),
      },
      change: {
        files: { greeting: 'good evening' },
        rows: [row('update', 'ConfigMap', 'shop-greeting')],
        summary: { added: 0, changed: 1, destroyed: 0 },
        world: world('good evening'),
      },
      drift: {
        cause: () => cluster.scale('shop', 5),
        row: row('update', 'Deployment', 'shop'),
        evidence: /"name":"spec.replicas","after":2,"before":5/,
      },
      hang: {
        files: {
          'deployment.yaml': deployment.replace(template, `${template}      annotations: {${pending}}\n`),
        },
        isWaiting: () => cluster.isPending('shop'),
        next: {
          files: { 'deployment.yaml': deployment },
          rows: [row('update', 'Deployment', 'shop')],
          summary: { added: 0, changed: 1, destroyed: 0 },
          world: world('good evening'),
        },
      },
      failure: {
        files: {
          'deployment.yaml': deployment.replace('replicas: 2', 'replicas: 3'),
          greeting: 'good night',
        },
        spoil: () => cluster.refuse('No deployments at night.'),
        reason: /No deployments at night/,
        world: world('good night'),
        mend: () => cluster.allow(),
        next: {
          rows: [row('update', 'Deployment', 'shop')],
          summary: { added: 0, changed: 1, destroyed: 0 },
          world: world('good night', 3),
        },
      },
      destroy: {
        rows: rows('delete'),
        summary: { added: 0, changed: 0, destroyed: 4 },
        world: {},
      },
    };
  },
});
