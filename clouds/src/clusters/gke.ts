/** Clusters of the Google Kubernetes Engine. */
import { CloudProblem, exchangeJson, part, refusal, textPart, trusting } from '../exchange.ts';
import { tokenOfKey, tokenOfWorkload } from '../google.ts';
import type { ClusterAccess, ClusterQuestion } from './cluster.ts';

/** The address of its control plane: that with the cluster's own certificate, else the one that has a name. */
function placeOf(cluster: unknown): Pick<ClusterAccess, 'server' | 'authority'> {
  const access = part(cluster, 'controlPlaneEndpointsConfig');
  const [address, name] = [textPart(cluster, 'endpoint'), textPart(access, 'dnsEndpointConfig', 'endpoint')];
  const authority = textPart(cluster, 'masterAuth', 'clusterCaCertificate');
  const hasAddress = part(access, 'ipEndpointsConfig', 'enabled') !== false;
  if (hasAddress && address !== undefined && authority !== undefined)
    return { server: `https://${address}`, authority };
  if (name === undefined)
    throw new CloudProblem('has no address yet: Google Cloud is still creating it, or removes it');
  return { server: `https://${name}` };
}

/** @throws CloudProblem; the signal's reason */
export async function findGkeCluster(question: ClusterQuestion): Promise<ClusterAccess> {
  const { value, identity, addresses, privateHosts, signal } = question;
  const { serviceAccountKey, credentialConfigurationFileContent = '{}' } = identity.value;
  const project = identity.environment['GOOGLE_CLOUD_PROJECT'];
  if (project === undefined)
    throw new CloudProblem('cannot be found: that credential has no projectId, which is needed here');
  const access = { privateHosts, signal };
  const token =
    serviceAccountKey === undefined
      ? await tokenOfWorkload(access, JSON.parse(credentialConfigurationFileContent), identity.token ?? '')
      : await tokenOfKey(access, JSON.parse(serviceAccountKey));
  const path = [
    'projects',
    project,
    'locations',
    value.computeRegion ?? '',
    'clusters',
    value.clusterName ?? '',
  ];
  const { status, body } = await exchangeJson({
    method: 'GET',
    url: new URL(`${addresses.gke}/v1/${path.map(encodeURIComponent).join('/')}`),
    headers: { accept: 'application/json', authorization: `Bearer ${token}` },
    privateHosts: trusting(privateHosts, addresses.gke),
    signal,
  });
  if (status !== 200) throw refusal('Google Cloud', status, textPart(body, 'error', 'message'));
  return { ...placeOf(body), tokens: [{ token, from: Date.now() }] };
}
