import type { Material } from '../../../../testing/driver-material.ts';

const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: c, user: u, namespace: shop } }]
clusters: [{ name: c, cluster: { server: 'https://cluster.test' } }]
users: [{ name: u, user: { token: t } }]
`;

const context = { 'kubeconfig.json': 'context-1.32.4.json' } as const;

export const material: Material = {
  tree: { 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n' },
  environment: { ENVARIUM_KUBECONFIG: kubeconfig },
  plans: {
    'a first deployment': {
      files: {
        ...context,
        'rendered.yaml': 'create-1.32.4.rendered.yaml',
        'others.diff': 'create-1.32.4.diff',
      },
      summary: { added: 4, changed: 0, destroyed: 0 },
      changes: {
        'v1/ConfigMap/shop/settings': 'create',
        'v1/Secret/shop/keys': 'create',
        'v1/Service/shop/shop': 'create',
        'apps/v1/Deployment/shop/shop': 'create',
      },
      hasChanges: true,
    },
    'changes and a deletion': {
      files: {
        ...context,
        'input:state': 'applied.json',
        'rendered.yaml': 'change-1.32.4.rendered.yaml',
        'ours.diff': 'change-1.32.4.diff',
        'deletions.json': 'change-1.32.4.deletions.json',
      },
      summary: { added: 0, changed: 3, destroyed: 1 },
      changes: {
        'v1/ConfigMap/shop/settings': 'update',
        'v1/Secret/shop/keys': 'update',
        'v1/Service/shop/shop': 'delete',
        'apps/v1/Deployment/shop/shop': 'update',
      },
      hasChanges: true,
    },
    'no change': {
      files: { ...context, 'input:state': 'applied.json', 'rendered.yaml': 'create-1.32.4.rendered.yaml' },
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
  },
  state: { file: 'applied.json', resourceCount: 4, outputs: {} },
};
