import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { findEksCluster } from '#clouds/clusters/eks.ts';
import type { CredentialType } from '#contract/credentials/kinds.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import {
  type AwsServer,
  authorizationFor,
  startAwsServer,
  withAwsServer,
} from '../../testing/secret-stores/aws-server.ts';
import { recordedClusters } from '../../testing/secret-stores/recorded-clusters.ts';
import { type ReplayServer, startReplayServer } from '../../testing/secret-stores/replay-server.ts';
import { credentialDeliverer } from './deliver-credentials.ts';

const needed = withAwsServer();
const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'planted-secret-key' };
const job = {
  organizationId: 'organization-1',
  environmentId: 'environment',
  deploymentId: '0190b1de-0000-7000-8000-000000000000',
  type: 'deploy',
  limits: { runSeconds: 1800, abortSeconds: 60 },
  variables: { environment: [], terraform: [] },
  systemVariables: {},
  secrets: [],
} as unknown as Job;
const folder = `/srv/runs/${job.environmentId}/credentials`;
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});

const credential = (type: CredentialType, value: RunCredential['value'], token?: string): RunCredential => ({
  id: type,
  name: type.startsWith('K8S') ? 'cluster' : 'deployer',
  type,
  version: 'version',
  value,
  ...(token === undefined ? {} : { token }),
});
const eks = (clusterName = 'prod') => credential('K8S_EKS_AUTH', { clusterName, clusterRegion: 'eu-west-1' });
const aks = (clusterName = 'prod') =>
  credential('K8S_AZURE_AKS_AUTH', { clusterName, resourceGroup: 'shop' });
const gke = (clusterName = 'prod') =>
  credential('K8S_GCP_GKE_AUTH', { clusterName, computeRegion: 'europe-west1' });

let aws: AwsServer | undefined;
let clouds: ReplayServer;
const environment = { ...process.env };

before(async () => {
  clouds = await startReplayServer(recordedClusters);
  process.env.AZURE_AUTHORITY_HOST = clouds.address;
  if (needed.skip !== false) return;
  aws = await startAwsServer();
  process.env.AWS_ENDPOINT_URL = aws.url;
  await aws.makeCluster('prod');
});
after(async () => {
  process.env = environment;
  await clouds[Symbol.asyncDispose]();
  await aws?.[Symbol.asyncDispose]();
});

/** @param trusted whether the operator has named the host of the recorded clouds */
function make(
  credentials: RunCredential[],
  { trusted = true, own = {} as Record<string, string> } = {},
): Promise<Job> {
  const variables = Object.entries(own).map(([name, value]) => ({ name, value, isSensitive: false }));
  const deliver = credentialDeliverer({
    workFolder: '/srv/runs',
    privateHosts: new Set(trusted ? [new URL(clouds.address).host] : []),
    mayUseOwnIdentity: false,
    addresses: { azureManagement: clouds.address, gke: clouds.address },
  });
  const fullJob = { ...job, variables: { environment: variables, terraform: [] }, credentials };
  return deliver(fullJob, AbortSignal.timeout(30_000));
}

function fileOf({ delivered, resolution }: Job, name: string) {
  const file = delivered?.files.find((one) => one.name === name);
  assert.ok(file, `${name}: ${JSON.stringify(resolution)}`);
  return file;
}

/** The parts of the kubeconfig file that say where the cluster is and who asks. */
function configOf(made: Job) {
  const file = parse(fileOf(made, 'kubeconfig').content);
  assert.equal(file['current-context'], 'prod');
  assert.deepEqual(file.contexts, [{ name: 'prod', context: { cluster: 'prod', user: 'prod' } }]);
  const path = `${folder}/kubeconfig`;
  const { KUBECONFIG, KUBE_CONFIG_PATH } = made.delivered?.environment ?? {};
  assert.deepEqual([KUBECONFIG, KUBE_CONFIG_PATH], [path, path]);
  return { cluster: file.clusters[0].cluster, user: file.users[0].user };
}

const failuresOf = async (...args: Parameters<typeof make>) => (await make(...args)).resolution?.failures;

/** As a cluster asks who sent a token; the server wants in a header what the token has in its query. */
async function whoSent(token: string): Promise<string> {
  const url = new URL(Buffer.from(token.replace(/^k8s-aws-v1\./, ''), 'base64url').toString());
  assert.equal(url.host, 'sts.eu-west-1.amazonaws.com');
  assert.equal(url.searchParams.get('X-Amz-SignedHeaders'), 'host;x-k8s-aws-id');
  const answer = await fetch(`${aws?.url}/${url.search}`, {
    headers: {
      authorization: authorizationFor(url.searchParams.get('X-Amz-Credential') ?? ''),
      'x-k8s-aws-id': 'prod',
    },
  });
  return /<Arn>(.*)<\/Arn>/.exec(await answer.text())?.[1] ?? '';
}

test(
  'a run reaches an EKS cluster with the keys, the role or the token of its credential',
  needed,
  async () => {
    const roleArn = 'arn:aws:iam::123456789012:role/deployer';
    const session = /:assumed-role\/deployer\/envarium-0190b1de/;
    for (const [identity, arn] of [
      [credential('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys), /^arn:aws:/],
      [credential('AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', { roleArn, ...keys }), session],
      [credential('AWS_OIDC', { roleArn }, 'jwt'), session],
    ] as const) {
      const made = await make([identity, eks()]);
      const { cluster, user } = configOf(made);
      assert.match(cluster.server, /^https:\/\/.*\.eks\.amazonaws\.com/);
      assert.ok(cluster['certificate-authority-data']);
      assert.deepEqual(user, { tokenFile: `${folder}/kubeconfig-token` });
      const { content, later = [] } = fileOf(made, 'kubeconfig-token');
      assert.match(await whoSent(content), arn, identity.type);
      // 31 minutes: one token more for each ten.
      assert.deepEqual(
        later.map(({ from }) => Math.round((from - Date.now()) / 60_000)),
        [10, 20, 30],
      );
      for (const token of [content, ...later.map((one) => one.content)])
        assert.ok(made.secrets.includes(token));
    }
  },
);

test('tokens for EKS have the signature that other programs of AWS make', async (t) => {
  // By botocore 1.43.11, from the same keys, date and cluster.
  const signatures = {
    'eu-west-1': 'b77d64ef40c09ae4ec556132dfe7112ba219f55dbc51ef74f350510cb08ef0ea',
    'cn-north-1': '29112e5e18a256bd320b3ca673e44a8480ecaaeb0722d07a1fa37b6c7c95f354',
  };
  const session = {
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    AWS_SESSION_TOKEN: 'session/token+of=test==',
  };
  const cluster = { endpoint: 'https://prod', certificateAuthority: { data: 'authority' } };
  const server = createServer((_, reply) => void reply.end(JSON.stringify({ cluster })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  process.env.AWS_ENDPOINT_URL_EKS = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => delete process.env.AWS_ENDPOINT_URL_EKS);
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 2, 3, 4, 5) });
  for (const [region, signature] of Object.entries(signatures)) {
    const { tokens = [] } = await findEksCluster({
      ...{
        value: { clusterName: 'prod', clusterRegion: region },
        sessionName: 'run',
        seconds: 60,
        privateHosts: [],
      },
      ...{ identity: { environment: session, value: {} }, signal: new AbortController().signal },
    } as unknown as Parameters<typeof findEksCluster>[0]);
    const [made, ...others] = tokens;
    assert.deepEqual(others, []);
    const url = new URL(Buffer.from(made?.token.slice(11) ?? '', 'base64url').toString());
    assert.equal(url.searchParams.get('X-Amz-Signature'), signature);
    assert.equal(url.searchParams.get('X-Amz-Security-Token'), session.AWS_SESSION_TOKEN);
  }
});

test('a cluster that AWS does not know or does not show fails the run by its name', needed, async (t) => {
  const identity = credential('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys);
  assert.deepEqual(await failuresOf([identity, eks('none')]), [
    'Credential "cluster" names the cluster "none" in "eu-west-1", which, requested with the credential "deployer", was not found by AWS: No cluster found for name: none.',
  ]);
  process.env.AWS_ENDPOINT_URL_EKS = clouds.address;
  t.after(() => delete process.env.AWS_ENDPOINT_URL_EKS);
  assert.deepEqual(await failuresOf([identity, eks('closed')]), [
    'Credential "cluster" names the cluster "closed" in "eu-west-1", which, requested with the credential "deployer", was refused by AWS with status 403: User: arn:aws:iam::1:user/x is not authorized to perform: eks:DescribeCluster',
  ]);
});

test('a cluster needs the credential of its cloud, and one reason is enough', async () => {
  assert.deepEqual(await failuresOf([eks()]), [
    'Credential "cluster" names the cluster "prod" in "eu-west-1", for which the run needs a credential of AWS too: assign one to the project',
  ]);
  const other = credential('AZURE_OIDC', { clientId: 'c', subscriptionId: 's', tenantId: 't' }, 'jwt');
  assert.match(String(await failuresOf([other, gke()])), /"prod" in "europe-west1".* of Google Cloud too/);
  const unusable = { ...credential('AWS_OIDC', {}), problem: 'cannot be used: its roleArn is invalid' };
  assert.deepEqual(await failuresOf([unusable, eks()]), [
    'Credential "deployer" cannot be used: its roleArn is invalid',
  ]);
  const identity = credential('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys);
  const own = await make([identity, eks()], { own: { AWS_PROFILE: 'own' } });
  assert.match(String(own.resolution?.failures), /needs a credential of AWS too/);
  assert.match(String(own.resolution?.warnings), /the variable AWS_PROFILE takes its place/);
  const file = await make([eks()], { own: { KUBECONFIG: '/own' } });
  assert.deepEqual(file.resolution, {
    failures: [],
    warnings: ['Credential "cluster" is not used: the variable KUBECONFIG takes its place'],
  });
});

const principal = (clientSecret = 'planted-client-secret') =>
  credential('AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT', {
    clientId: 'client-1',
    subscriptionId: 'subscription-1',
    tenantId: clientSecret === 'wrong' ? 'tenant-2' : 'tenant-1',
    clientSecret,
  });

test('a run reaches an AKS cluster with the certificate that Azure makes, or as its application', async () => {
  const from = clouds.requests.length;
  const local = await make([principal(), aks('prod')]);
  const { cluster, user } = configOf(local);
  assert.deepEqual(cluster, {
    server: 'https://prod-1.hcp.westeurope.azmk8s.io:443',
    'certificate-authority-data': 'Y2E=',
  });
  assert.deepEqual(user, { 'client-certificate-data': 'Y2hhaW4=', 'client-key-data': 'cGxhbnRlZC1rZXk=' });
  assert.deepEqual(local.secrets, ['cGxhbnRlZC1rZXk=', 'planted-key']);
  assert.equal(local.delivered?.files.length, 1);
  const [login, question] = clouds.requests.slice(from);
  assert.equal(login?.form.get('client_secret'), 'planted-client-secret');
  assert.equal(login?.form.get('scope'), `${clouds.address}/.default`);
  assert.equal(question?.headers['authorization'], 'Bearer eyJ.recorded');

  const oidc = credential(
    'AZURE_OIDC',
    { clientId: 'client-1', subscriptionId: 'subscription-2', tenantId: 'tenant-1' },
    'jwt-of-the-run',
  );
  const at = clouds.requests.length;
  const made = await make([oidc, aks('prod')]);
  assert.deepEqual(configOf(made).user, { tokenFile: `${folder}/kubeconfig-token` });
  assert.deepEqual(fileOf(made, 'kubeconfig-token'), { name: 'kubeconfig-token', content: 'eyJ.recorded' });
  assert.ok(made.secrets.includes('eyJ.recorded'));
  const [first, , last] = clouds.requests.slice(at);
  assert.equal(first?.form.get('client_assertion'), 'jwt-of-the-run');
  assert.equal(last?.form.get('scope'), '6dae42f8-4368-4678-94ff-3960e28e3630/.default');
});

test('a request to a busy cloud is repeated, three times in all', async () => {
  const from = clouds.requests.length;
  assert.match(String(await failuresOf([principal(), aks('busy')])), /refused by Azure with status 429$/);
  const repeated = clouds.requests.slice(from).filter(({ what }) => what.includes('/managedClusters/busy/'));
  assert.equal(repeated.length, 3);
});

test('what Azure refuses fails the run without a secret', async () => {
  const requestedWith = 'which, requested with the credential "deployer",';
  assert.deepEqual(await failuresOf([principal(), aks('closed')]), [
    `Credential "cluster" names the cluster "closed" in "shop", ${requestedWith} was refused by Azure with status 403: The client does not have authorization to perform action listClusterUserCredential`,
  ]);
  assert.deepEqual(await failuresOf([principal(), aks('none')]), [
    `Credential "cluster" names the cluster "none" in "shop", ${requestedWith} was not found by Azure: The Resource was not found.`,
  ]);
  assert.deepEqual(await failuresOf([principal('wrong'), aks()]), [
    `Credential "cluster" names the cluster "prod" in "shop", ${requestedWith} was refused by Azure with status 401: AADSTS7000215: Invalid client secret provided.`,
  ]);
});

const serviceAccount = () =>
  credential('GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT', {
    serviceAccountKey: JSON.stringify({
      type: 'service_account',
      project_id: 'shop',
      client_email: 'deployer@shop.iam.gserviceaccount.com',
      private_key: key,
      token_uri: `${clouds.address}/token`,
    }),
  });

test('a run reaches a GKE cluster with a token of its service account', async () => {
  const from = clouds.requests.length;
  const made = await make([serviceAccount(), gke()]);
  const { cluster, user } = configOf(made);
  assert.deepEqual(cluster, { server: 'https://34.1.2.3', 'certificate-authority-data': 'Y2E=' });
  assert.deepEqual(user, { tokenFile: `${folder}/kubeconfig-token` });
  assert.equal(fileOf(made, 'kubeconfig-token').content, 'ya29.recorded');
  assert.ok(made.secrets.includes('ya29.recorded'));
  assert.equal(clouds.requests[from + 1]?.headers['authorization'], 'Bearer ya29.recorded');

  const named = await make([serviceAccount(), gke('named')]);
  assert.deepEqual(parse(fileOf(named, 'kubeconfig').content).clusters[0].cluster, {
    server: 'https://gke-1.europe-west1.gke.goog',
  });
});

test('a run reaches a GKE cluster by workload identity', async () => {
  const configuration = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/e',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${clouds.address}/v1/token`,
    service_account_impersonation_url: `${clouds.address}/v1/projects/-/serviceAccounts/d@shop:generateAccessToken`,
  };
  const value = { credentialConfigurationFileContent: JSON.stringify(configuration) };
  const from = clouds.requests.length;
  const made = await make([credential('GCP_OIDC', { ...value, projectId: 'shop' }, 'jwt-of-the-run'), gke()]);
  assert.equal(fileOf(made, 'kubeconfig-token').content, 'ya29.impersonated');
  const [exchange, impersonation] = clouds.requests.slice(from);
  assert.equal(exchange?.form.get('subject_token'), 'jwt-of-the-run');
  assert.equal(impersonation?.headers['authorization'], 'Bearer ya29.federated');
  const without = await failuresOf([credential('GCP_OIDC', value, 'jwt-of-the-run'), gke()]);
  assert.match(String(without), /has no projectId, which is needed here/);
});

test('what Google refuses fails the run; addresses in credentials are guarded, those of the operator are not', async () => {
  const requestedWith = 'which, requested with the credential "deployer",';
  assert.deepEqual(await failuresOf([serviceAccount(), gke('closed')]), [
    `Credential "cluster" names the cluster "closed" in "europe-west1", ${requestedWith} was refused by Google Cloud with status 403: Required "container.clusters.get" permission(s) for "projects/shop".`,
  ]);
  assert.deepEqual(await failuresOf([serviceAccount(), gke('none')]), [
    `Credential "cluster" names the cluster "none" in "europe-west1", ${requestedWith} was not found by Google Cloud`,
  ]);
  assert.match(
    String(await failuresOf([serviceAccount(), gke()], { trusted: false })),
    /"prod" in "europe-west1".*ENVARIUM_CREDENTIAL_PRIVATE_HOSTS/,
  );
  const made = await make([principal(), aks()], { trusted: false });
  assert.deepEqual(made.resolution?.failures, []);
});
