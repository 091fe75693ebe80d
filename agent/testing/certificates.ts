/** For tests: a temporary certificate authority and its certificate for this machine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipUnlessRequired } from '../../tools/toolbox/places.ts';

/** Reason to skip tests that need an authority, or false. */
export const withoutOpenssl: string | false =
  spawnSync('openssl', ['version']).status !== 0 && skipUnlessRequired('needs openssl').skip;

export interface Authority {
  /** File with the authority's certificate. */
  readonly file: string;
  /** For a server on `localhost` or 127.0.0.1. */
  readonly server: { readonly key: Buffer; readonly cert: Buffer };
}

/**
 * @param folder an existing folder, which is not reused for another authority
 * @param names further host names that its certificate is for
 */
export function makeAuthority(folder: string, names: readonly string[] = []): Authority {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=a test authority',
  );
  openssl('req', ...key, '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost');
  const all = ['IP:127.0.0.1', ...['localhost', ...names].map((name) => `DNS:${name}`)];
  writeFileSync(at('names'), `subjectAltName=${all.join()}\n`);
  const signing = [
    '-CA',
    at('ca.pem'),
    '-CAkey',
    at('ca.key'),
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    at('names'),
  ];
  openssl('x509', '-req', '-in', at('server.csr'), '-out', at('server.pem'), ...signing);
  return {
    file: at('ca.pem'),
    server: { key: readFileSync(at('server.key')), cert: readFileSync(at('server.pem')) },
  };
}
