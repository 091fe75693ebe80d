/** A real identity provider (oidc-provider) on this machine, and a browser that signs in there. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { disposeAtEnd } from './database.ts';

export interface Claims {
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: readonly string[] | string;
}

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

let keys = 0;
function newKey(): Key {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { kid: `key-${++keys}`, privateKey };
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An ID token with any content. */
export function signToken({ kid, privateKey }: Key, payload: object): string {
  const content = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part(payload)}`;
  return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
}

export function payloadOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<
    string,
    unknown
  >;
}

export class IdentityProvider {
  readonly issuer: string;
  readonly clientId = 'envarium';
  readonly clientSecret = 'planted-client-secret';
  /** By account. */
  readonly accounts = new Map<string, Claims>();
  key: Key;
  /** Replaces the ID tokens that the provider gives out. */
  tamper: ((token: string) => string) | undefined;
  readonly #redirectUri: string;
  #handle: ReturnType<Provider['callback']>;

  private constructor(server: Server, redirectUri: string) {
    this.#redirectUri = redirectUri;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.key = newKey();
    this.#handle = this.#provider().callback();
    server.on('request', (request, response) => void this.#handle(request, response));
  }

  /** @param redirectUri of the only client */
  static async start(redirectUri: string): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const provider = new IdentityProvider(server, redirectUri);
    disposeAtEnd({
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    return provider;
  }

  /** The provider signs with a new key from now on, and no longer knows the one before. */
  rotate(): void {
    this.key = newKey();
    this.#handle = this.#provider().callback();
  }

  #provider(): Provider {
    const { kid, privateKey } = this.key;
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: this.clientId,
          client_secret: this.clientSecret,
          redirect_uris: [this.#redirectUri],
        },
      ],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] },
      pkce: { required: () => true },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      scopes: ['openid', 'email', 'profile', 'groups'],
      cookies: { keys: ['only for tests'] },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...this.accounts.get(id) }),
      }),
    });
    provider.use(async (context, next) => {
      await next();
      const body = context.body as { id_token?: string } | undefined;
      if (context.path === '/token' && body?.id_token && this.tamper)
        context.body = { ...body, id_token: this.tamper(body.id_token) };
    });
    return provider;
  }

  /**
   * Signs in and consents, as a person does in the pages of the provider.
   * @param address where the service has sent the browser
   * @returns the address that the provider sends the browser to at the end
   */
  async visit(address: string, account: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let next = new URL(address);
    let form: string | undefined;
    for (let step = 0; step < 12; step++) {
      if (next.origin !== this.issuer) return next;
      const response = await fetch(next, {
        redirect: 'manual',
        headers: {
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(form === undefined ? {} : { method: 'POST', body: form }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      }
      form = undefined;
      const location = response.headers.get('location');
      const page = await response.text();
      if (location !== null) next = new URL(location, next);
      else if (/name="prompt" value="login"/.test(page)) form = `prompt=login&login=${account}&password=any`;
      else if (/name="prompt" value="consent"/.test(page)) form = 'prompt=consent';
      else throw new Error(`The provider answered ${response.status}: ${page.slice(0, 2000)}`);
    }
    throw new Error('The provider leads in circles');
  }
}
