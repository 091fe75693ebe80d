/** The catalogue: approval policies that come with the service. */
import { type Static, Type } from 'typebox';
import { AnyObject, replyObject, Text } from '../schema/schema.ts';
import { catalogueRepository } from './catalogue-repository.ts';

const listOf = (description: string) => Type.Array(Text, { description });

export const CataloguePolicy = replyObject('CataloguePolicy', {
  path: Type.String({
    description: `Its folder: the \`path\` of a policy with repository ${catalogueRepository}`,
  }),
  name: Type.String({ description: 'What is true while it is assigned' }),
  description: Type.String({ description: 'One sentence' }),
  explanation: Type.String({ description: 'What it reads, refuses, and leaves to a person' }),
  categories: listOf('Security, Networking, IAM, Compliance, Cost, Performance'),
  tags: listOf('Words to find it by'),
  cloudProvider: Type.String({ description: 'aws, gcp, azure, or any' }),
  terraformVersions: Type.String({ description: 'Versions of Terraform and OpenTofu whose plans it reads' }),
  configurationSchema: Type.Optional({
    ...AnyObject,
    description: 'JSON Schema of its `policyConfiguration`; absent: it has none',
  }),
  files: Type.Record(Text, Text, { description: 'Its files of Rego, by name' }),
});
export type CataloguePolicy = Static<typeof CataloguePolicy>;
