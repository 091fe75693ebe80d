/** Credentials of clouds, which runs get, or by which costs are read. */
import { type Static, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffectOf } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { AnyObject, closed, Name, nullable, Text, Title } from '../schema/schema.ts';
import { credentialTypes, kindOf, tokenFormats } from './kinds.ts';
import {
  Credential,
  CredentialAssignment,
  CredentialTest,
  CredentialTypeName,
  ProjectCredentials,
} from './shapes.ts';

const thisCredential = aboutOne('credential');
const ofProject = { entity: 'project', in: 'params', field: 'projectId' } as const;
const organizationToo = [
  { right: 'EDIT_ORGANIZATION_SETTINGS', for: 'credentials of the organization' },
] as const;
const deleted = nullable(Type.Object({ id: Text }));

const short = (description: string) => Type.Optional(Type.String({ maxLength: 2048, description }));
const document = (description: string) => Type.Optional(Type.String({ maxLength: 200_000, description }));

const Value = Type.Object(
  {
    roleArn: short('AWS: the role to assume'),
    duration: Type.Optional(
      Type.Integer({
        minimum: 900,
        maximum: 43_200,
        description: 'AWS: seconds for which the role is assumed; default: the longest that the role allows',
      }),
    ),
    accessKeyId: short('AWS'),
    secretAccessKey: short('AWS'),
    projectId: short('Google Cloud: the project; default: that of the key'),
    serviceAccountKey: document('Google Cloud: the key file of a service account'),
    credentialConfigurationFileContent: document(
      'Google Cloud: the configuration of a workload identity pool (type external_account)',
    ),
    tableid: short('Google Cloud: the table of the billing export'),
    secret: document('Google Cloud: the key file of the account that reads the billing export'),
    clientId: short('Azure'),
    clientSecret: short('Azure'),
    subscriptionId: short('Azure'),
    tenantId: short('Azure'),
    address: short('Vault: its address'),
    jwtAuthBackendPath: short('Vault: where its JWT authentication is mounted'),
    roleName: short('Vault: the role of the JWT authentication'),
    version: short('Vault: version of the secrets engine, stored for clients'),
    namespace: short('Vault'),
    tenancyOcid: short('Oracle Cloud'),
    userOcid: short('Oracle Cloud'),
    fingerprint: short('Oracle Cloud: fingerprint of the key'),
    privateKey: document('Oracle Cloud: the private key (PEM), without a passphrase'),
    region: short('Oracle Cloud'),
    kubeConfig: document('Kubernetes: a kubeconfig file'),
    clusterName: short('Kubernetes: the cluster of EKS, AKS or GKE'),
    clusterRegion: short('Kubernetes: the region of the EKS cluster'),
    resourceGroup: short('Kubernetes: the resource group of the AKS cluster'),
    computeRegion: short('Kubernetes: the region or zone of the GKE cluster'),
    tokenFormat: Type.Optional(oneOf(tokenFormats, 'Kinds with OIDC: the form of the subject; default: v1')),
  },
  {
    additionalProperties: false,
    title: 'CredentialValue',
    description: 'The fields of its type (docs/use/credentials.md); an empty text counts as absent',
  },
);

const ignored = {
  encryptionMethod: Type.Optional(
    Type.String({ description: 'Ignored: the value is sent unencrypted, and the service encrypts it' }),
  ),
  createdByUser: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ ...AnyObject, description: 'Ignored: the caller is the creator' }),
  ),
};

const StoredType = withoutEffectOf(
  CredentialTypeName,
  credentialTypes.filter((type) => !kindOf(type).isForRuns),
  noEffects.costCredentials,
);

const CreateBody = closed({
  name: Title,
  type: StoredType,
  value: Value,
  organizationId: Type.Optional(Name),
  projectId: Type.Optional(
    Type.String({ minLength: 1, description: 'For the projects of this one and below, instead of all' }),
  ),
  ...ignored,
});
export type CreateCredentialBody = Static<typeof CreateBody>;

const UpdateBody = closed({
  name: Type.Optional(Title),
  type: Type.Optional(StoredType),
  value: Type.Optional(Value),
  organizationId: Type.Optional(Type.String({ minLength: 1, description: 'That of the credential' })),
  projectId: Type.Optional(Type.String({ minLength: 1, description: 'That of the credential' })),
  ...ignored,
});
export type UpdateCredentialBody = Static<typeof UpdateBody>;

const assignment = {
  subject: ofProject,
  params: Type.Object({ credentialId: Name, projectId: Name }),
} as const;

export const operations = defineOperations('credentials', {
  listCredentials: operation('GET', '/credentials', {
    summary: 'List credentials',
    description: 'Those of the organization and of its projects, newest first.',
    needs: 'VIEW_ORGANIZATION',
    ...inOrganization,
    reply: Type.Array(Credential),
  }),
  createCredential: operation('POST', '/credentials', {
    summary: 'Create credential',
    description:
      'It belongs to the organization, or to a project: then only that one and those below may use it. Runs get ' +
      'it once it is assigned to a project.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: [
      { entity: 'organization', in: 'body', field: 'organizationId', needs: 'EDIT_ORGANIZATION_SETTINGS' },
      { entity: 'project', in: 'body', field: 'projectId', needs: 'EDIT_PROJECT_SETTINGS' },
    ],
    body: CreateBody,
    reply: Credential,
  }),
  getCredential: operation('GET', '/credentials/{id}', {
    summary: 'Get credential',
    needs: 'VIEW_ORGANIZATION',
    ...thisCredential,
    reply: Credential,
  }),
  updateCredential: operation('PATCH', '/credentials/{id}', {
    summary: 'Update credential',
    description: 'A value replaces the whole value. Runs that have begun continue with the old one.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: organizationToo,
    ...thisCredential,
    body: UpdateBody,
    reply: Credential,
  }),
  deleteCredential: operation('DELETE', '/credentials/{id}', {
    summary: 'Delete credential',
    description: 'Refused while it is assigned to a project.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: organizationToo,
    ...thisCredential,
    reply: deleted,
    refusesWith: ['conflict'],
  }),
  testCredential: operation('POST', '/credentials/{id}/test', {
    summary: 'Test credential',
    description:
      'The service asks the cloud whether it accepts the credential, where it can do so itself; otherwise only its ' +
      'form is checked, and the message says why.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: organizationToo,
    ...thisCredential,
    asksOthers: true,
    reply: CredentialTest,
  }),
  listProjectCredentials: operation('GET', '/credentials/deployment/project/{projectId}', {
    summary: 'List credentials assigned to project',
    needs: 'VIEW_PROJECT',
    subject: ofProject,
    params: Type.Object({ projectId: Name }),
    reply: ProjectCredentials,
  }),
  assignCredential: operation('PUT', '/credentials/deployment/{credentialId}/project/{projectId}', {
    summary: 'Assign credential to project',
    description:
      'Runs of the project and of those below get it. For each cloud, the nearest assignment counts; of several ' +
      'in one project, the newest.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: organizationToo,
    ...assignment,
    reply: CredentialAssignment,
    refusesWith: ['not_found', 'conflict'],
  }),
  unassignCredential: operation('DELETE', '/credentials/deployment/{credentialId}/project/{projectId}', {
    summary: 'Remove credential from project',
    needs: 'EDIT_PROJECT_SETTINGS',
    ...assignment,
    reply: nullable(Type.Object({ credentialId: Text, projectId: Text })),
    refusesWith: ['not_found'],
  }),
});
