/** For tests: what Azure and Google Cloud are documented to answer about clusters, and AWS to who may not ask. */
import type { Recorded } from './replay-server.ts';

const kubeconfig = (user: object) =>
  Buffer.from(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'prod',
          cluster: {
            server: 'https://prod-1.hcp.westeurope.azmk8s.io:443',
            'certificate-authority-data': 'Y2E=',
          },
        },
      ],
      users: [{ name: 'clusterUser_shop_prod', user }],
      contexts: [{ name: 'prod', context: { cluster: 'prod', user: 'clusterUser_shop_prod' } }],
      'current-context': 'prod',
    }),
  ).toString('base64');
const userCredential = (subscription: string, cluster: string) =>
  `POST /subscriptions/${subscription}/resourceGroups/shop/providers/Microsoft.ContainerService/managedClusters/${cluster}/listClusterUserCredential?api-version=2024-09-01&format=exec`;
const clusterAt = (name: string) => `GET /v1/projects/shop/locations/europe-west1/clusters/${name}`;
const kubeconfigs = (user: object) => ({
  status: 200,
  body: { kubeconfigs: [{ name: 'clusterUser', value: kubeconfig(user) }] },
});
const certificate = { 'client-certificate-data': 'Y2hhaW4=', 'client-key-data': 'cGxhbnRlZC1rZXk=' };
const entraToken = {
  status: 200,
  body: { token_type: 'Bearer', expires_in: 3599, access_token: 'eyJ.recorded' },
};

export const recordedClusters: Recorded = {
  'POST /tenant-1/oauth2/v2.0/token': entraToken,
  'POST /tenant-2/oauth2/v2.0/token': {
    status: 401,
    body: {
      error: 'invalid_client',
      error_description:
        'AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1\r\nTimestamp: 2026-01-01 00:00:00Z',
    },
  },
  [userCredential('subscription-1', 'prod')]: kubeconfigs(certificate),
  [userCredential('subscription-2', 'prod')]: kubeconfigs({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: 'kubelogin',
      args: ['get-token', '--server-id', '6dae42f8-4368-4678-94ff-3960e28e3630'],
    },
  }),
  [userCredential('subscription-1', 'closed')]: {
    status: 403,
    body: {
      error: {
        code: 'AuthorizationFailed',
        message: 'The client does not have authorization to perform action listClusterUserCredential',
      },
    },
  },
  [userCredential('subscription-1', 'busy')]: { status: 429, body: '<html>planted</html>' },
  [userCredential('subscription-1', 'none')]: {
    status: 404,
    body: { error: { code: 'ResourceNotFound', message: 'The Resource was not found.' } },
  },
  'POST /token': {
    status: 200,
    body: { access_token: 'ya29.recorded', expires_in: 3599, token_type: 'Bearer' },
  },
  'POST /v1/token': {
    status: 200,
    body: { access_token: 'ya29.federated', expires_in: 3599, token_type: 'Bearer' },
  },
  'POST /v1/projects/-/serviceAccounts/d@shop:generateAccessToken': {
    status: 200,
    body: { accessToken: 'ya29.impersonated', expireTime: '2026-01-01T01:00:00Z' },
  },
  [clusterAt('prod')]: {
    status: 200,
    body: {
      name: 'prod',
      status: 'RUNNING',
      endpoint: '34.1.2.3',
      masterAuth: { clusterCaCertificate: 'Y2E=' },
      controlPlaneEndpointsConfig: { ipEndpointsConfig: { enabled: true } },
    },
  },
  [clusterAt('named')]: {
    status: 200,
    body: {
      name: 'named',
      masterAuth: { clusterCaCertificate: 'Y2E=' },
      controlPlaneEndpointsConfig: {
        dnsEndpointConfig: { endpoint: 'gke-1.europe-west1.gke.goog', allowExternalTraffic: true },
        ipEndpointsConfig: { enabled: false },
      },
    },
  },
  [clusterAt('closed')]: {
    status: 403,
    body: {
      error: {
        code: 403,
        message: 'Required "container.clusters.get" permission(s) for "projects/shop".',
        status: 'PERMISSION_DENIED',
      },
    },
  },
  'GET /clusters/closed': {
    status: 403,
    body: {
      message:
        'User: arn:aws:iam::1:user/x is not authorized to perform: eks:DescribeCluster\non resource: x',
    },
  },
};
