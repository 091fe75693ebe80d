/** Clusters of the Azure Kubernetes Service. */
import { applicationToken } from '../azure.ts';
import { CloudProblem, exchangeJson, part, refusal, textPart, trusting } from '../exchange.ts';
import { clusterOf } from '../kubernetes.ts';
import type { ClusterAccess, ClusterQuestion } from './cluster.ts';

const apiVersion = '2024-09-01';
/** Audience of tokens for all clusters whose users are those of Microsoft Entra. */
const clusterAudience = '6dae42f8-4368-4678-94ff-3960e28e3630';

async function kubeconfigOfCluster(question: ClusterQuestion, token: string): Promise<string> {
  const { value, identity, addresses, privateHosts, signal } = question;
  const path = [
    ['subscriptions', identity.value.subscriptionId ?? ''],
    ['resourceGroups', value.resourceGroup ?? ''],
    ['providers', 'Microsoft.ContainerService'],
    ['managedClusters', value.clusterName ?? ''],
    ['listClusterUserCredential'],
  ];
  const shown = path.flat().map(encodeURIComponent).join('/');
  const { status, body } = await exchangeJson({
    method: 'POST',
    url: new URL(`${addresses.azureManagement}/${shown}?api-version=${apiVersion}&format=exec`),
    headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'content-length': '0' },
    privateHosts: trusting(privateHosts, addresses.azureManagement),
    signal,
  });
  if (status !== 200) throw refusal('Azure', status, textPart(body, 'error', 'message'));
  const files = part(body, 'kubeconfigs');
  const content = textPart(Array.isArray(files) ? files[0] : null, 'value');
  if (content === undefined) throw new CloudProblem('was answered by Azure without a kubeconfig file');
  return Buffer.from(content, 'base64').toString('utf8');
}

/**
 * A cluster has users of its own, whose certificate or token is in the file that Azure makes, or those of Microsoft
 * Entra: then the application gets a token for it.
 * @throws CloudProblem; the signal's reason
 */
export async function findAksCluster(question: ClusterQuestion): Promise<ClusterAccess> {
  const { identity, addresses, privateHosts, signal } = question;
  const { clientId = '', tenantId = '', clientSecret } = identity.value;
  const proof = clientSecret === undefined ? { assertion: identity.token ?? '' } : { secret: clientSecret };
  const tokenFor = (audience: string) =>
    applicationToken({ privateHosts, signal }, { tenantId, clientId, proof, audience });
  const file = await kubeconfigOfCluster(question, await tokenFor(addresses.azureManagement));
  const { cluster, user } = clusterOf(file);
  const server = textPart(cluster, 'server');
  if (server === undefined) throw new CloudProblem('was answered by Azure without an address');
  const authority = textPart(cluster, 'certificate-authority-data');
  const place = { server, ...(authority === undefined ? {} : { authority }) };
  const [chain, key] = [textPart(user, 'client-certificate-data'), textPart(user, 'client-key-data')];
  const isOfEntra = part(user, 'exec') !== undefined || part(user, 'auth-provider') !== undefined;
  const token = isOfEntra ? await tokenFor(clusterAudience) : textPart(user, 'token');
  if (token === undefined && key === undefined)
    throw new CloudProblem('was answered by Azure without a way to sign in');
  return {
    ...place,
    ...(token === undefined ? {} : { tokens: [{ token, from: Date.now() }] }),
    ...(isOfEntra || chain === undefined || key === undefined ? {} : { certificate: { chain, key } }),
  };
}
