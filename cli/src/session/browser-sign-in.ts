/** Sign-in through a browser, which brings a code to a port of this machine. */
import { spawn } from 'node:child_process';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '#contract/client/client.ts';
import { routes } from '#contract/routes.ts';
import { apiBase } from '#contract/schema/operation.ts';
import type { CliSession } from '#contract/sign-in/shapes.ts';
import { canAsk } from '../terminal/ask.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { plain } from '../terminal/safe-text.ts';
import { BadCall } from './exit-codes.ts';
import { tell } from './session.ts';
import { anonymousClient } from './sign-in.ts';

/** As long as the service waits for the identity provider. */
const waitMilliseconds = 600_000;
const path = '/callback';

const random = () => randomBytes(32).toString('base64url');

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

/** Program that opens an address in the browser of this machine. */
function openerOf(): [program: string, ...args: string[]] {
  const { BROWSER } = currentProcess().env;
  if (BROWSER) return [BROWSER];
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}

/** If that fails, the person opens the printed address. */
function openBrowser(address: string): void {
  if (!canAsk() && !currentProcess().env.BROWSER) return;
  const [program, ...args] = openerOf();
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
  child.on('error', () => tell(`${program} could not be started: open the address yourself.`));
  child.unref();
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`${text}\n`);
}

/** A port of this machine on which a browser brings the code. */
async function listen(state: string) {
  const arrived = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://localhost');
    if (request.method !== 'GET' || url?.pathname !== path) return reply(response, 404, 'Nothing is here.');
    const { searchParams } = url;
    if (!isSame(searchParams.get('state') ?? '', state))
      return reply(response, 400, 'This is not the sign-in that the terminal waits for.');
    const code = searchParams.get('code');
    if (code) {
      reply(response, 200, 'Return to the terminal: you can close this page.');
      return arrived.resolve(code);
    }
    const reason =
      searchParams.get('error_description') ?? searchParams.get('error') ?? 'no reason was stated';
    reply(response, 200, `The sign-in was refused: ${reason}`);
    arrived.reject(new BadCall(`The sign-in was refused: ${plain(reason)}. Nothing was written.`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = setTimeout(
    () => arrived.reject(new BadCall('No one signed in within 10 minutes. Nothing was written.')),
    waitMilliseconds,
  );
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    code: arrived.promise,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      server.close();
      server.closeIdleConnections();
    },
  };
}

/**
 * @param apiUrl address of the service
 * @throws BadCall where the service has no identity provider, or the sign-in is refused or takes too long
 */
export async function signInWithBrowser(apiUrl: string): Promise<CliSession> {
  const client = anonymousClient(apiUrl);
  const { providers } = await client.call('listSignInMethods');
  if (providers.length === 0)
    throw new BadCall(
      `The service at ${apiUrl} has no identity provider: log in with --email, or with an API key.`,
    );
  const [state, codeVerifier] = [random(), random()];
  using listener = await listen(state);
  const { redirectUri } = listener;
  const codeChallenge = hash('sha256', codeVerifier, 'base64url');
  const base = apiUrl.replace(/\/+$/, '').replace(/\/api$/, '');
  const query = new URLSearchParams({ redirectUri, codeChallenge, state }).toString();
  const address = `${base}${apiBase}${routes.startCliSignIn[1]}?${query}`;
  tell(`Sign in with a browser on this machine:\n${address}`);
  openBrowser(address);
  const code = await listener.code;
  return client
    .call('exchangeCliCode', { body: { code, codeVerifier, redirectUri } })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 403)
        throw new BadCall(`${error.message}. Nothing was written.`);
      throw error;
    });
}
