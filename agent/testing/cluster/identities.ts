/** Identities for a test's cluster: kubeconfigs, and tokens of service accounts with a chosen end. */
import { sign } from 'node:crypto';
import { stringify } from 'yaml';

export interface Access {
  readonly url: string;
  /** The certificate of the API server's authority. */
  readonly ca: string;
  readonly token: string;
  /** The namespace of commands that name none. */
  readonly namespace?: string;
}

/** A kubeconfig with one context that holds all it needs in itself. */
export function kubeconfigText({ url, ca, token, namespace }: Access): string {
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', ...(namespace && { namespace }) } }],
    'current-context': 'test',
  });
}

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** For so long the API server accepts a token that has expired. */
const leewaySeconds = 60;

/**
 * A token as the API itself would give one, also for a time that it would not: it gives none for less than ten
 * minutes.
 * @param key PEM of the private key that the API server knows, of the curve P-256
 * @param seconds until the API refuses it, which forgets what it accepted after ten seconds more; negative: at
 * once
 */
export function serviceAccountToken(
  key: string,
  issuer: string,
  { namespace, name, uid }: ServiceAccount,
  seconds: number,
): string {
  const expires = Math.floor(Date.now() / 1000) + seconds - leewaySeconds;
  const issued = expires - Math.max(0, seconds) - 3600;
  const claims = {
    ...{ iss: issuer, aud: [issuer], sub: `system:serviceaccount:${namespace}:${name}` },
    ...{ iat: issued, nbf: issued, exp: expires },
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
  };
  const parts = [{ alg: 'ES256', typ: 'JWT' }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
