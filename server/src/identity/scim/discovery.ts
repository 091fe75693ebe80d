/** SCIM discovery: abilities, types of resources, and their schemas. */
import { mostResults } from './page.ts';
import { groupSchema, type ResourceType, userSchema } from './resource.ts';

const schemaOf = (name: string) => `urn:ietf:params:scim:schemas:core:2.0:${name}`;

export function serviceProviderConfig(address: string): object {
  return {
    schemas: [schemaOf('ServiceProviderConfig')],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: mostResults },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'SCIM token',
        description: 'A SCIM token of the organization, as Authorization: Bearer',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${address}/ServiceProviderConfig` },
  };
}

export function resourceTypes(address: string): { readonly id: string }[] {
  const type = (id: ResourceType, schema: string, description: string) => ({
    schemas: [schemaOf('ResourceType')],
    id,
    name: id,
    description,
    endpoint: `/${id}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${address}/ResourceTypes/${id}` },
  });
  return [
    type('User', userSchema, 'A person in the organization'),
    type('Group', groupSchema, 'A team of the organization'),
  ];
}

interface ScimAttribute {
  readonly type: string;
  readonly description: string;
  readonly [more: string]: unknown;
}

function attribute(name: string, { type, description, ...more }: ScimAttribute): object {
  const isText = type === 'string' || type === 'reference';
  return {
    name,
    type,
    multiValued: false,
    description,
    required: false,
    mutability: 'readWrite',
    returned: 'default',
    ...(isText ? { caseExact: false, uniqueness: 'none' } : {}),
    ...more,
  };
}

const text = (name: string, description: string, more: object = {}) =>
  attribute(name, { type: 'string', description, ...more });

const list = (name: string, description: string, subAttributes: readonly object[]) =>
  attribute(name, { type: 'complex', multiValued: true, description, subAttributes });

const userAttributes = [
  text('userName', 'The e-mail address with which the person signs in', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('name', {
    type: 'complex',
    description: 'The parts of the name',
    subAttributes: [
      text('formatted', 'The whole name'),
      text('familyName', 'The family name'),
      text('givenName', 'The given name'),
    ],
  }),
  text('displayName', 'The name that others see'),
  list('emails', 'Addresses; the service uses userName only', [
    text('value', 'The address'),
    text('type', 'What it is for, as work'),
    attribute('primary', { type: 'boolean', description: 'Whether it is the main one' }),
  ]),
  attribute('active', {
    type: 'boolean',
    description: 'Whether the person can use the organization',
    required: true,
  }),
];

const groupAttributes = [
  text('displayName', 'The name of the team', { required: true, uniqueness: 'server', caseExact: true }),
  list('members', 'The people of the team', [
    text('value', 'The id of the user', { mutability: 'immutable', caseExact: true }),
    attribute('$ref', {
      type: 'reference',
      description: 'The address of the user',
      referenceTypes: ['User'],
      mutability: 'immutable',
      caseExact: true,
    }),
    text('type', 'User', { mutability: 'immutable', canonicalValues: ['User'] }),
  ]),
];

export function schemas(address: string): { readonly id: string }[] {
  const schema = (id: string, name: ResourceType, description: string, attributes: readonly object[]) => ({
    schemas: [schemaOf('Schema')],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: 'Schema', location: `${address}/Schemas/${id}` },
  });
  return [
    schema(userSchema, 'User', 'A person in the organization', userAttributes),
    schema(groupSchema, 'Group', 'A team of the organization', groupAttributes),
  ];
}
