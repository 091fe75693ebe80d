/**
 * Clusters of the Elastic Kubernetes Service. Their tokens are signed requests for the identity of their signer,
 * which the cluster sends to AWS: making one needs no network, and each is valid for 15 minutes from its date on.
 */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { type AwsKeys, assumeRoleByToken } from '../aws.ts';
import { CloudProblem, exchangeJson, refusal, textPart, trusting } from '../exchange.ts';
import type { ClusterAccess, ClusterQuestion, ClusterToken } from './cluster.ts';

/** A token is replaced long before it ends: clients read the file once a minute, and clocks differ. */
const renewalSeconds = 600;
/** Maximum lifetime that clusters accept; AWS itself ignores it. */
const statedSeconds = 60;

/** The hash that requests are signed with, as the signer wants it. */
class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {
    throw new Error('a hash is used once');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

async function openSigner(service: string, region: string, credentials: AwsKeys) {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  return new SignatureV4({ service, region, credentials, sha256: Sha256 });
}

/** Of the part of AWS that a region is in. */
function domainOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
}

/**
 * Tokens for a cluster, one after the other.
 * @param start when the first one is signed, as milliseconds since 1970
 */
async function eksTokens(
  keys: AwsKeys,
  cluster: { readonly name: string; readonly region: string },
  { start, seconds }: { readonly start: number; readonly seconds: number },
): Promise<ClusterToken[]> {
  const { name, region } = cluster;
  // Clusters accept the usual addresses only, whatever the agent itself uses.
  const hostname = `sts.${region}.${domainOf(region)}`;
  const signer = await openSigner('sts', region, keys);
  const count = Math.max(1, Math.ceil(seconds / renewalSeconds));
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const from = start + index * renewalSeconds * 1000;
      const { query = {} } = await signer.presign(
        {
          method: 'GET',
          protocol: 'https:',
          hostname,
          path: '/',
          query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
          headers: { host: hostname, 'x-k8s-aws-id': name },
        },
        { expiresIn: statedSeconds, signingDate: new Date(from) },
      );
      const url = `https://${hostname}/?${new URLSearchParams(query as Record<string, string>)}`;
      return { token: `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`, from };
    }),
  );
}

/** Form of the credential in the run; a token of the run is exchanged for a session. */
async function keysOf(question: ClusterQuestion): Promise<AwsKeys> {
  const { identity, sessionName, seconds, signal } = question;
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = identity.environment;
  if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined) {
    const { roleArn = '' } = identity.value;
    return assumeRoleByToken({ signal }, { roleArn, token: identity.token ?? '', sessionName, seconds });
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
  };
}

/** Description of a cluster by AWS. @throws CloudProblem */
async function describe(question: ClusterQuestion, keys: AwsKeys): Promise<unknown> {
  const { value, privateHosts, signal } = question;
  const { clusterName = '', clusterRegion = '' } = value;
  const address =
    process.env.AWS_ENDPOINT_URL_EKS ||
    process.env.AWS_ENDPOINT_URL ||
    `https://eks.${clusterRegion}.${domainOf(clusterRegion)}`;
  const url = new URL(`${address.replace(/\/+$/, '')}/clusters/${encodeURIComponent(clusterName)}`);
  const signer = await openSigner('eks', clusterRegion, keys);
  const { headers } = await signer.sign({
    method: 'GET',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    headers: { host: url.host, accept: 'application/json' },
  });
  const access = { privateHosts: trusting(privateHosts, address), signal };
  const { status, body } = await exchangeJson({ ...access, method: 'GET', url, headers });
  if (status !== 200) throw refusal('AWS', status, textPart(body, 'message') ?? textPart(body, 'Message'));
  return body;
}

/** @throws CloudProblem; the signal's reason */
export async function findEksCluster(question: ClusterQuestion): Promise<ClusterAccess> {
  const { clusterName: name = '', clusterRegion: region = '' } = question.value;
  const keys = await keysOf(question);
  const found = await describe(question, keys);
  const server = textPart(found, 'cluster', 'endpoint');
  const authority = textPart(found, 'cluster', 'certificateAuthority', 'data');
  if (server === undefined || authority === undefined)
    throw new CloudProblem('has no address yet: AWS is still creating it, or removes it');
  const time = { start: Date.now(), seconds: question.seconds };
  return { server, authority, tokens: await eksTokens(keys, { name, region }, time) };
}
