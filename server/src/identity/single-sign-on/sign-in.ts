/** The two halves of a sign-in through the identity provider, and what the command line gets of it. */
import { timingSafeEqual } from 'node:crypto';
import type { CliSession, SignInWay } from '#contract/sign-in/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { basePathOf, baseUrlOf } from '../../framework/http/callers/base-url.ts';
import { readCookie, setCookie } from '../../framework/http/callers/credentials.ts';
import type { Wire } from '../../framework/http/route.ts';
import { badField, Refusal } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import {
  insertCliCode,
  insertWaiting,
  sha256,
  takeCliCode,
  takeWaiting,
  type WaitingCli,
  type WaitingSignIn,
} from '../../rows/single-sign-on/request-store.ts';
import { startBrowserSession, startCliSession } from '../sign-in/start-session.ts';
import { loopbackAddress } from './loopback.ts';
import { beginAtProvider, finishAtProvider, requireProvider } from './provider.ts';
import { resolvePerson } from './resolve-person.ts';

const signInCookie = 'sign-in';
const waitSeconds = 600;
const cliCodeSeconds = 60;

function callbackOf({ settings }: ActorContext, { request }: Wire): string {
  return `${baseUrlOf(settings, request)}/api/auth/oidc/callback`;
}

function inSeconds(context: ActorContext, seconds: number): Date {
  return new Date(context.now().getTime() + seconds * 1000);
}

/** @throws Refusal 400 for what is not a path of this service */
export function localPath(field: string, path: string): string {
  const isLocal = URL.parse(path, 'http://here.invalid')?.origin === 'http://here.invalid';
  if (!path.startsWith('/') || !isLocal || /[\\\p{Cc}]/u.test(path))
    throw badField(field, 'must be a path of this service, such as /projects');
  return path;
}

/**
 * Sends the browser to the provider.
 * @param purpose where to go afterwards, and the command line that waits, if any
 * @throws Refusal 404 without a provider, 503 where it does not answer
 */
export async function beginSignIn(
  context: ActorContext,
  wire: Wire,
  purpose: Pick<WaitingSignIn, 'returnTo' | 'cli'>,
): Promise<string> {
  const provider = requireProvider(context);
  const { url, state, nonce, codeVerifier } = await beginAtProvider(context, provider, {
    redirectUri: callbackOf(context, wire),
    // A page that sends a person here must not get a session of the command line without the person's doing.
    isDeliberate: purpose.cli !== null,
  });
  const browser = newKeySecret();
  const waiting = { nonce, codeVerifier, browser: sha256(browser).toString('base64url'), ...purpose };
  await insertWaiting(context, state, waiting, inSeconds(context, waitSeconds));
  setCookie(context.settings, wire, { name: signInCookie, value: browser, maxAge: waitSeconds });
  return url;
}

/** @throws Refusal 403 for a state that was used, has expired, or belongs to another browser */
async function takeSignIn(context: ActorContext, { request }: Wire, state: string): Promise<WaitingSignIn> {
  const waiting = state === '' ? null : await takeWaiting(context, state, context.now());
  const browser = sha256(readCookie(context.settings, request, signInCookie) ?? '');
  const expected = Buffer.from(waiting?.browser ?? '', 'base64url');
  if (!waiting || browser.length !== expected.length || !timingSafeEqual(browser, expected))
    throw new Refusal(
      'forbidden',
      'This sign-in was used already, has expired, or was begun in another browser: begin again',
    );
  return waiting;
}

function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** @returns the address at which the command line gets its code */
async function handToCli(
  context: ActorContext,
  cli: WaitingCli,
  proof: { readonly userId: string; readonly way: SignInWay },
): Promise<string> {
  const { redirectUri, codeChallenge, state } = cli;
  const code = newKeySecret();
  const expiresAt = inSeconds(context, cliCodeSeconds);
  await insertCliCode(context.db, code, { ...proof, codeChallenge, redirectUri }, expiresAt);
  return withParameters(redirectUri, { code, state });
}

/**
 * The provider has sent the browser back: starts a session, or hands a code to the command line.
 * @returns where to send the browser
 * @throws Refusal 403 where the sign-in is not valid
 */
export async function finishSignIn(context: ActorContext, wire: Wire, state: string): Promise<string> {
  const waiting = await takeSignIn(context, wire, state);
  const { cli, returnTo, nonce, codeVerifier } = waiting;
  try {
    const arrived = new URL(callbackOf(context, wire));
    arrived.search = new URL(wire.request.url, 'http://here.invalid').search;
    const started = { state, nonce, codeVerifier };
    const identity = await finishAtProvider(context, requireProvider(context), started, arrived);
    const userId = await resolvePerson(context, identity);
    setCookie(context.settings, wire, { name: signInCookie, value: '', maxAge: 0 });
    if (cli) return await handToCli(context, cli, { userId, way: 'oidc' });
    await startBrowserSession(context, wire, userId, 'oidc');
    return `${basePathOf(context.settings)}${returnTo}`;
  } catch (error) {
    if (!cli || !(error instanceof Refusal)) throw error;
    const refusal = { error: 'access_denied', error_description: error.message, state: cli.state };
    return withParameters(cli.redirectUri, refusal);
  }
}

/**
 * A person who is signed in lets the command line sign in, too.
 * @throws Refusal 403 where no browser's session asks, 400 for an address that is not of this machine
 */
export async function approveCli(
  context: ActorContext,
  { request }: Wire,
  cli: WaitingCli,
): Promise<{ location: string }> {
  loopbackAddress('body.redirectUri', cli.redirectUri);
  const { session } = request;
  if (session?.kind !== 'browser')
    throw new Refusal('forbidden', 'Only a person in a browser can let the command line sign in');
  const { userId, way } = session;
  return { location: await handToCli(context, cli, { userId, way }) };
}

/**
 * Exchanges a code for a session of the command line. A code is used once, whether or not the rest is right.
 * @throws Refusal 403 for a code that is unknown, used, expired, or belongs to another person
 */
export async function exchangeCliCode(
  context: ActorContext,
  wire: Wire,
  exchange: { readonly code: string; readonly codeVerifier: string; readonly redirectUri: string },
): Promise<CliSession> {
  const found = await takeCliCode(context.db, exchange.code, context.now());
  const challenge = sha256(exchange.codeVerifier).toString('base64url');
  if (found?.codeChallenge !== challenge || found.redirectUri !== exchange.redirectUri)
    throw new Refusal('forbidden', 'This code was used already, has expired, or is not yours: sign in again');
  return startCliSession(context, wire, found.userId, found.way);
}
