/**
 * Sessions of AWS roles (Security Token Service), by the SDK of AWS, which is loaded when it is needed. `AWS_ENDPOINT_URL`
 * and `AWS_ENDPOINT_URL_STS` of the process name another address.
 */
import http from 'node:http';
import https from 'node:https';
import type { Credentials } from '@aws-sdk/client-sts';
import type { CredentialValue } from '#contract/credentials/kinds.ts';
import { beforeReading, refuseWebPages, WebPageAnswer } from './aws-web-page.ts';
import { CloudProblem, shownText } from './exchange.ts';

export interface AwsAccess {
  readonly signal: AbortSignal;
}

export interface AwsSession {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const leastSeconds = 900;
const mostSeconds = 43_200;
/** Permissions of every role. */
const ordinarySeconds = 3600;
const regions: Readonly<Record<string, string>> = { 'aws-cn': 'cn-north-1', 'aws-us-gov': 'us-gov-west-1' };

/** Of the part of AWS that a role is in. */
function regionOf(roleArn = ''): string {
  return regions[roleArn.split(':')[1] ?? ''] ?? 'us-east-1';
}

/** The library, and a client. @param keys absent: the identity of this process */
async function openClient(region: string, keys?: AwsKeys) {
  const library = await import('@aws-sdk/client-sts');
  // Read now: a program replaces them when it starts to use a proxy.
  const agents = { httpAgent: http.globalAgent, httpsAgent: https.globalAgent };
  const client = new library.STSClient({
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 15_000, ...agents },
    ...(keys === undefined ? {} : { credentials: keys }),
  });
  client.middlewareStack.add(refuseWebPages, beforeReading);
  return { library, client };
}

/** @throws CloudProblem */
async function asking<Answer>({ signal }: AwsAccess, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    const { name, message } = error as Error;
    if (error instanceof WebPageAnswer)
      throw new CloudProblem(`could not ask AWS: ${message}`, { cause: error });
    throw new CloudProblem(`was refused by AWS: ${shownText(message || name)}`, { cause: error });
  }
}

function sessionOf(credentials: Credentials | undefined): AwsSession {
  const { AccessKeyId, SecretAccessKey, SessionToken } = credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken)
    throw new CloudProblem('was refused by AWS: its answer contains no session');
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
}

function isTooLong(error: unknown): boolean {
  return /DurationSeconds exceeds|session limit/.test((error as Error).message);
}

/**
 * A session for as long as it is needed, or as long as every role allows.
 * @param wanted.duration what the credential says, which counts whatever is needed
 * @throws CloudProblem
 */
async function longest(
  access: AwsAccess,
  { duration, seconds }: { readonly duration?: number | undefined; readonly seconds: number },
  assume: (seconds: number) => Promise<{ readonly Credentials?: Credentials | undefined }>,
): Promise<AwsSession> {
  const wanted = duration ?? Math.min(Math.max(seconds, leastSeconds), mostSeconds);
  const { Credentials: session } = await asking(access, async () => {
    try {
      return await assume(wanted);
    } catch (error) {
      if (duration !== undefined || wanted <= ordinarySeconds || !isTooLong(error)) throw error;
      return assume(ordinarySeconds);
    }
  });
  return sessionOf(session);
}

/** For whom a role is assumed. */
export interface RoleRequest {
  readonly value: CredentialValue;
  /** Name of the session in the records of AWS. */
  readonly sessionName: string;
  /** Values that trust policies can require, so that no one else's role is assumed. */
  readonly externalId: string;
  /**
   * Seconds that the session is needed; a role that allows less gets less, unless the credential specifies a
   * duration.
   */
  readonly seconds: number;
}

/**
 * Assumes a role with the keys of the credential, or with the identity of this process.
 * @throws CloudProblem
 */
export async function assumeRole(access: AwsAccess, request: RoleRequest): Promise<AwsSession> {
  const { roleArn, duration, accessKeyId, secretAccessKey } = request.value;
  const keys =
    accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
  const { library, client } = await openClient(regionOf(roleArn), keys);
  return longest(access, { duration, seconds: request.seconds }, (seconds) =>
    client.send(
      new library.AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: request.sessionName.slice(0, 64),
        ExternalId: request.externalId,
        DurationSeconds: seconds,
      }),
      { abortSignal: access.signal },
    ),
  );
}

/** Exchanges the token of a run for a session, as tools do. @throws CloudProblem */
export async function assumeRoleByToken(
  access: AwsAccess,
  request: {
    readonly roleArn: string;
    readonly token: string;
    readonly sessionName: string;
    /** Seconds that the session is needed; absent: the minimum of AWS. */
    readonly seconds?: number;
  },
): Promise<AwsSession> {
  // The request is not signed: without keys, the SDK would look for the identity of this process.
  const anonymous = { accessKeyId: 'none', secretAccessKey: 'none' };
  const { library, client } = await openClient(regionOf(request.roleArn), anonymous);
  return longest(access, { seconds: request.seconds ?? 0 }, (seconds) =>
    client.send(
      new library.AssumeRoleWithWebIdentityCommand({
        RoleArn: request.roleArn,
        RoleSessionName: request.sessionName.slice(0, 64),
        WebIdentityToken: request.token,
        DurationSeconds: seconds,
      }),
      { abortSignal: access.signal },
    ),
  );
}

/** Owner of the keys according to AWS: an ARN. @throws CloudProblem */
export async function callerIdentity(access: AwsAccess, keys: AwsKeys, roleArn?: string): Promise<string> {
  const { library, client } = await openClient(regionOf(roleArn), keys);
  const { Arn } = await asking(access, () =>
    client.send(new library.GetCallerIdentityCommand({}), { abortSignal: access.signal }),
  );
  return Arn ?? '';
}
