/** Requests to AWS for one stack, and what its errors mean for people. */
import http from 'node:http';
import https from 'node:https';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { beforeReading, refuseWebPages, WebPageAnswer } from '#clouds/aws-web-page.ts';
import type { StackRequest } from './reports.ts';
import { tell } from './tell.ts';

/** Dependencies of all verbs. */
export interface Api {
  readonly client: CloudFormationClient;
  readonly request: StackRequest;
  /** Standard input of the verb. */
  readonly approved: string;
}

/** An error whose message is for people as it is. */
export class StackProblem extends Error {
  override readonly name = 'StackProblem';
}

const attempts = 10;

/** @returns undefined where a profile may name it */
function regionOf(environment: NodeJS.ProcessEnv): string | undefined {
  return environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || undefined;
}

/** Settings of every client: the SDK reads credentials, profiles and addresses from the environment of the run. */
export function clientSettings(environment: NodeJS.ProcessEnv) {
  const region = regionOf(environment);
  return {
    ...(region === undefined ? {} : { region }),
    retryMode: 'standard',
    maxAttempts: Number(environment['AWS_MAX_ATTEMPTS']) || attempts,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: 60_000,
      httpAgent: http.globalAgent,
      httpsAgent: https.globalAgent,
    },
  };
}

const throttled = /throttl|rate exceeded|too many requests|SlowDown|RequestLimitExceeded/i;

function isThrottling(error: unknown): boolean {
  const { name, message } = error as Error;
  return throttled.test(name) || throttled.test(message);
}

/** A client that says when AWS asks it to wait. */
export function openClient(environment: NodeJS.ProcessEnv = process.env): CloudFormationClient {
  const client = new CloudFormationClient(clientSettings(environment));
  client.middlewareStack.add(refuseWebPages, beforeReading);
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        try {
          return await next(args);
        } catch (error) {
          if (isThrottling(error))
            tell(
              `AWS limits the rate of requests (${commandName ?? 'request'}): the request is repeated later.`,
            );
          throw error;
        }
      },
    { step: 'finalizeRequest', priority: 'low', name: 'tellOfThrottling' },
  );
  return client;
}

const expired = ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired', 'TokenRefreshRequired'];
const invalidCredentials = [
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'SignatureDoesNotMatch',
  'InvalidSignatureException',
  'IncompleteSignature',
];
const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET'];

/** Source of the SDK's credentials, for people. */
function credentialSource(environment: NodeJS.ProcessEnv): string {
  if (environment['AWS_PROFILE']) return `the profile ${environment['AWS_PROFILE']}`;
  if (environment['AWS_ACCESS_KEY_ID'])
    return environment['AWS_SESSION_TOKEN']
      ? 'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, a session'
      : 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  if (environment['AWS_WEB_IDENTITY_TOKEN_FILE']) return 'the token in AWS_WEB_IDENTITY_TOKEN_FILE';
  return "the agent's machine";
}

/** Error of AWS or the SDK, with a remedy if one is known. */
export function explain(error: unknown, environment: NodeJS.ProcessEnv = process.env): string {
  const { name, message, code } = error as Error & { readonly code?: string };
  if (error instanceof StackProblem || error instanceof WebPageAnswer) return message;
  const awsMessage = `${name}: ${message || 'no further message'}`;
  const whose = `They are those of ${credentialSource(environment)}`;
  if (expired.includes(name) || (invalidCredentials.includes(name) && /expired/i.test(message)))
    return `the AWS credentials have expired (${awsMessage}). ${whose}: renew them, then deploy again`;
  if (invalidCredentials.includes(name))
    return `AWS does not accept the credentials (${awsMessage}). ${whose}: correct them, then deploy again`;
  if (name === 'CredentialsProviderError' || /Could not load credentials/.test(message))
    return (
      'there are no credentials for AWS: assign a credential of AWS to the project, or set AWS_ACCESS_KEY_ID and ' +
      'AWS_SECRET_ACCESS_KEY'
    );
  if (message.startsWith('Region is missing'))
    return 'the region is missing: set the variable AWS_REGION of the environment, such as eu-west-1';
  if (isThrottling(error))
    return `AWS still limits the rate of requests after all repetitions (${awsMessage}): deploy again later`;
  if (name === 'TimeoutError' || unreachable.includes(code ?? ''))
    return `AWS cannot be reached (${code ?? name}): check AWS_REGION, AWS_ENDPOINT_URL and the network of the agent`;
  if (name.startsWith('AccessDenied'))
    return `AWS denies access (${message}): give the credentials this right, then deploy again`;
  return awsMessage;
}
