/**
 * `${ssm:<name>}`: AWS Systems Manager Parameter Store and AWS Secrets Manager, with the identity, region and
 * addresses that the usual variables of AWS (`AWS_REGION`, `AWS_PROFILE`, `AWS_ENDPOINT_URL` …) give the agent. A name
 * that begins with `/` is that of a parameter first, any other that of a secret first; the other store is used if the
 * first one has no such name or denies access. An ARN decides, and its region is used.
 */
import { globalAgent as httpAgent } from 'node:http';
import { globalAgent as httpsAgent } from 'node:https';
import { beforeReading, refuseWebPages, WebPageAnswer } from '#clouds/aws-web-page.ts';
import {
  fieldOf,
  nameAndKey,
  SecretProblem,
  type SecretStore,
  type StoreSecret,
  textOfBytes,
} from './secret-store.ts';

/** Request form of each of the two services. */
interface AwsSecretService {
  readonly title: string;
  readonly right: string;
  /** @returns null if there is no such name */
  read(name: string, region: string | undefined, signal: AbortSignal): Promise<string>;
}

const missing = ['ParameterNotFound', 'ParameterVersionNotFound', 'ResourceNotFoundException'];
const denied = ['AccessDeniedException', 'AccessDenied'];
const invalidCredentials = [
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'ExpiredTokenException',
  'ExpiredToken',
];

/** Proxies and certificates are those of the agent. */
const requestHandler = { httpAgent, httpsAgent, connectionTimeout: 5_000 };

const parameters: AwsSecretService = {
  title: 'AWS Systems Manager Parameter Store',
  right: 'ssm:GetParameter',
  async read(name, region, abortSignal) {
    const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm');
    const client = new SSMClient({ requestHandler, ...(region === undefined ? {} : { region }) });
    client.middlewareStack.add(refuseWebPages, beforeReading);
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }), {
      abortSignal,
    });
    if (Parameter?.Value === undefined) throw new SecretProblem('the parameter has no value');
    return Parameter.Value;
  },
};

const secrets: AwsSecretService = {
  title: 'AWS Secrets Manager',
  right: 'secretsmanager:GetSecretValue',
  async read(name, region, abortSignal) {
    const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
    const client = new SecretsManagerClient({ requestHandler, ...(region === undefined ? {} : { region }) });
    client.middlewareStack.add(refuseWebPages, beforeReading);
    const { SecretString, SecretBinary } = await client.send(new GetSecretValueCommand({ SecretId: name }), {
      abortSignal,
    });
    if (SecretString !== undefined) return SecretString;
    if (SecretBinary === undefined) throw new SecretProblem('the secret has no value');
    return textOfBytes(SecretBinary);
  },
};

/** @throws SecretProblem for a name that has another form */
function servicesFor(name: string): readonly AwsSecretService[] {
  if (!/^[\w+=.@:/-]{1,2048}$/.test(name))
    throw new SecretProblem('the reference must have the form ${ssm:<name>} or ${ssm:<name>#<key>}');
  if (name.startsWith('arn:')) return /^arn:[\w-]+:ssm:/.test(name) ? [parameters] : [secrets];
  return name.startsWith('/') ? [parameters, secrets] : [secrets, parameters];
}

/** Why a service did not answer, as `name` of the error; its message may repeat more than a reader should see. */
function problemOf(error: Error, { title, right }: AwsSecretService, region: string): SecretProblem {
  if (error instanceof SecretProblem) return error;
  if (error instanceof WebPageAnswer) return new SecretProblem(`${title}: ${error.message}`);
  const { name } = error;
  if (missing.includes(name)) return new SecretProblem(`${title} has no such name in ${region}`);
  if (denied.includes(name))
    return new SecretProblem(`${title} denies access in ${region}: the agent needs the right ${right}`);
  if (invalidCredentials.includes(name))
    return new SecretProblem(`${title} does not accept the agent's credentials (${name})`);
  if (name === 'CredentialsProviderError')
    return new SecretProblem(
      'the agent has no credentials for AWS (AWS_PROFILE, AWS_ACCESS_KEY_ID, a role …)',
    );
  if (error.message === 'Region is missing') return new SecretProblem('AWS_REGION is not set for the agent');
  return new SecretProblem(`${title} cannot be read in ${region} (${name})`);
}

const mayBeElsewhere = (error: Error) => [...missing, ...denied].includes(error.name);

/** Opens the store for one run. */
export function openAws(): SecretStore {
  return {
    async read(written, signal): Promise<StoreSecret> {
      const { name, key } = nameAndKey(written);
      const region = /^arn:[\w-]+:[\w-]+:([\w-]+):/.exec(name)?.[1];
      const shown = `region ${region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'of the profile'}`;
      const problems: string[] = [];
      for (const service of servicesFor(name)) {
        try {
          return { text: fieldOf(await service.read(name, region, signal), key) };
        } catch (error) {
          signal.throwIfAborted();
          const problem = problemOf(error as Error, service, shown);
          problems.push(problem.message);
          if (!mayBeElsewhere(error as Error)) throw problem;
        }
      }
      throw new SecretProblem(problems.join(', and '));
    },
  };
}
