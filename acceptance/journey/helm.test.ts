/** A chart on its journey: that of the example. */

import { readExample } from '../../tools/examples.ts';
import { pathWith, toolboxProgram } from '../../tools/toolbox/places.ts';
import { clusterWorlds, pending, withClusterAnd } from './cluster-world.ts';
import { journey } from './journey.ts';
import type { JourneyScenario } from './traveller.ts';

const secret = 'planted-secret-of-the-journey';
const worldOf = clusterWorlds();

journey({
  type: 'helm',
  needs: withClusterAnd('helm'),
  // After an interrupt, helm rolls back.
  settings: async () => ({ PATH: pathWith(toolboxProgram('helm')), ENVARIUM_ABORT_SECONDS: '60' }),
  async arrive(t): Promise<JourneyScenario> {
    const { namespace, variables, ...cluster } = await worldOf(t);
    const files = readExample('helm');
    const deployment = files['templates/deployment.yaml'] ?? '';
    const row = (action: string, kind: string, name = 'journey') =>
      `${action} ${kind === 'Deployment' ? 'apps/v1' : 'v1'}/${kind}/${namespace.name}/${name}`;
    const rows = (action: string) => [
      row(action, 'Deployment'),
      row(action, 'ConfigMap', 'journey-page'),
      row(action, 'Secret', 'journey-password'),
      row(action, 'Service'),
    ];
    const updates = [row('update', 'Deployment'), row('update', 'ConfigMap', 'journey-page')];
    const greeting = (value: string) => ({ name: 'greeting', value, type: 1 as const });
    const world = (text: string) => ({
      'ConfigMap/journey-page': `${text} from journey`,
      'Secret/journey-password': secret,
      'Deployment/journey': '1 replicas',
      'Service/journey': '',
      release: 'with its revisions',
    });
    return {
      files,
      secret,
      request: {
        workspaceName: 'journey',
        k8sNamespace: namespace.name,
        configurationChanges: [
          ...variables,
          greeting('Good morning'),
          { name: 'password', value: secret, type: 1, isSensitive: true },
        ],
      },
      world: cluster.world,
      create: {
        rows: rows('create'),
        summary: { added: 4, changed: 0, destroyed: 0 },
        world: world('Good morning'),
        outputs: { release: 'journey', namespace: namespace.name, revision: 1, status: 'deployed' },
      },
      change: {
        variables: [greeting('Good evening')],
        rows: updates,
        summary: { added: 0, changed: 2, destroyed: 0 },
        world: world('Good evening'),
        outputs: { release: 'journey', status: 'deployed' },
      },
      drift: {
        cause: () => cluster.scale('journey', 5),
        row: row('update', 'Deployment'),
        evidence: /"name":"spec.replicas","after":1,"before":5/,
      },
      hang: {
        files: {
          'templates/deployment.yaml': deployment.replace(
            '      annotations:\n',
            `      annotations:\n        ${pending}\n`,
          ),
        },
        isWaiting: () => cluster.isPending('journey'),
        // The abort has rolled back the changes.
        next: {
          files: { 'templates/deployment.yaml': deployment },
          rows: [],
          summary: { added: 0, changed: 0, destroyed: 0 },
          world: world('Good evening'),
        },
      },
      failure: {
        variables: [greeting('Good night')],
        spoil: () => cluster.refuse('No deployments at night.'),
        reason: /No deployments at night/,
        // Changes are rolled back.
        world: world('Good evening'),
        mend: () => cluster.allow(),
        next: {
          rows: updates,
          summary: { added: 0, changed: 2, destroyed: 0 },
          world: world('Good night'),
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
