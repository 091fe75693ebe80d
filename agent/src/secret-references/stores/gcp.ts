/**
 * `${gcp:<secret id>}`: Google Secret Manager, over its REST interface. The id may be `projects/<p>/secrets/<s>`, with
 * `/versions/<v>` where the latest version is not meant. The identity is the service account whose key file
 * `GOOGLE_APPLICATION_CREDENTIALS` names, else that of the machine or pod.
 */
import { readFile } from 'node:fs/promises';
import { part } from '#clouds/exchange.ts';
import { serviceAccountForm, serviceAccountOf } from '#clouds/google.ts';
import type { ProcessEnvironment } from '#settings/declaration.ts';
import { askStore } from './ask-store.ts';
import {
  fieldOf,
  nameAndKey,
  SecretProblem,
  type SecretStore,
  type StoreOptions,
  type StoreSecret,
  textOfBytes,
} from './secret-store.ts';

const keyFileVariable = 'GOOGLE_APPLICATION_CREDENTIALS';

/** @throws SecretProblem for a name that has another form */
function versionPath(name: string, project: string | undefined): string {
  const [, inProject, id, version = 'latest'] =
    /^(?:projects\/([a-z][\w.:-]{0,99})\/secrets\/)?([\w-]{1,255})(?:\/versions\/([\w-]{1,63}))?$/.exec(
      name,
    ) ?? [];
  if (id === undefined)
    throw new SecretProblem(
      'the reference must have the form ${gcp:<secret id>} or ${gcp:projects/<p>/secrets/<s>}',
    );
  const used = inProject ?? project;
  if (used === undefined)
    throw new SecretProblem(
      'ENVARIUM_GCP_PROJECT is not set for the agent, and the reference names no project',
    );
  return `projects/${encodeURIComponent(used)}/secrets/${id}/versions/${version}`;
}

async function tokenOfKey(file: string, signal: AbortSignal): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SecretProblem(`the file of ${keyFileVariable} cannot be read (${error.code ?? 'error'})`);
  });
  const account = serviceAccountOf(parsed(text));
  if (account === null)
    throw new SecretProblem(`the file of ${keyFileVariable} is not the key of a service account`);
  const form = serviceAccountForm(account);
  if (form === null)
    throw new SecretProblem(`the private key in the file of ${keyFileVariable} cannot be used`);
  const { status, body } = await askStore({ url: account.address, form, signal });
  if (status !== 200)
    throw new SecretProblem(`Google does not accept the service account of the agent (status ${status})`);
  return part(body, 'access_token');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function tokenOfMachine(environment: ProcessEnvironment, signal: AbortSignal): Promise<unknown> {
  const host = environment['GCE_METADATA_HOST'] || 'metadata.google.internal';
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`;
  const { status, body } = await askStore({ url, headers: { 'metadata-flavor': 'Google' }, signal });
  if (status !== 200)
    throw new SecretProblem(`the machine of the agent has no service account (status ${status})`);
  return part(body, 'access_token');
}

async function readToken(environment: ProcessEnvironment, signal: AbortSignal): Promise<string> {
  const file = environment[keyFileVariable];
  const token = file ? await tokenOfKey(file, signal) : await tokenOfMachine(environment, signal);
  if (typeof token !== 'string' || token === '')
    throw new SecretProblem('Google issued no token to the agent');
  return token;
}

function problemOf(status: number): SecretProblem {
  if (status === 404)
    return new SecretProblem('Google Secret Manager has no such secret, or no enabled version of it');
  if (status === 403)
    return new SecretProblem(
      'Google Secret Manager denies access: the agent needs the role roles/secretmanager.secretAccessor',
    );
  return new SecretProblem(`Google Secret Manager answered with status ${status}`);
}

/** Opens the store for one run. */
export function openGcp({ settings, environment }: StoreOptions): SecretStore {
  let token: Promise<string> | undefined;
  return {
    async read(written, signal): Promise<StoreSecret> {
      const { name, key } = nameAndKey(written);
      const path = versionPath(name, settings.gcpProject);
      token ??= readToken(environment, signal);
      const { status, body } = await askStore({
        url: `${settings.gcpSecretsAddress}/v1/${path}:access`,
        headers: { authorization: `Bearer ${await token}` },
        signal,
      });
      if (status !== 200) throw problemOf(status);
      const data = part(body, 'payload', 'data');
      if (typeof data !== 'string') throw new SecretProblem('the version of the secret has no content');
      return { text: fieldOf(textOfBytes(Buffer.from(data, 'base64')), key) };
    },
  };
}
