import type { Material } from '../../../../testing/driver-material.ts';

/** Recorded with kubectl 1.32 and Kubernetes 1.36, of the chart in examples/helm. */
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{ name: here, cluster: { server: 'https://127.0.0.1:6443' } }]
users: [{ name: somebody, user: { token: text } }]
contexts: [{ name: it, context: { cluster: here, user: somebody } }]
current-context: it
`;

export const material: Material = {
  tree: { 'Chart.yaml': 'apiVersion: v2\nname: greeting\nversion: 1.2.0\n' },
  environment: { ENVARIUM_KUBECONFIG: kubeconfig },
  plans: {
    'a first deployment': {
      files: {
        'revisions.json': '3.21.4-first-revisions.json',
        'rendered.json': '3.21.4-first-rendered.json',
        'created.yaml': '3.21.4-first-created.yaml',
      },
      summary: { added: 3, changed: 0, destroyed: 0 },
      changes: {
        'apps/v1/Deployment/shop/shop': 'create',
        'v1/ConfigMap/shop/shop-page': 'create',
        'v1/Service/shop/shop': 'create',
      },
      hasChanges: true,
    },
    'no change': {
      // helm marks its objects with the name of their release.
      job: { workspaceName: 'shop' },
      files: {
        'revisions.json': '3.21.4-same-revisions.json',
        'rendered.json': '3.21.4-same-rendered.json',
        'live.json': '3.21.4-same-live.json',
      },
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
    'a changed value, and an object that the chart has no more': {
      files: {
        'revisions.json': '3.21.4-change-revisions.json',
        'rendered.json': '3.21.4-change-rendered.json',
        'live.json': '3.21.4-change-live.json',
        'changed-0.json': '3.21.4-change-changed-0.json',
        'changed-1.json': '3.21.4-change-changed-1.json',
      },
      summary: { added: 0, changed: 2, destroyed: 1 },
      changes: {
        'apps/v1/Deployment/shop/shop': 'update',
        'v1/ConfigMap/shop/shop-page': 'update',
        'v1/Service/shop/shop': 'delete',
      },
      hasChanges: true,
    },
  },
};
