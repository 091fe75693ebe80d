/** Modules of an organization, as records: where the code of each is, and how it is read and tested. */
import { type Static, type TProperties, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { AnyObject, closed, Flag, Name, nullable, orNull, Prose, Text } from '../schema/schema.ts';
import { clearableOpentofuVersion } from '../sources/shapes.ts';
import { Module } from './shapes.ts';

const thisModule = aboutOne('module');

const ModuleName = Type.String({
  pattern: '^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$',
  description: 'Letters, digits, hyphens and underscores, at most 64',
});
const ModuleProvider = Type.String({
  pattern: '^[0-9a-z]{1,64}$',
  description: 'The provider that the module is mainly for, such as aws',
});
const Repository = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Address of the repository, without credentials',
});
const SshKey = closed({ id: Name, name: Type.Optional(Text) });
const IgnoredText = Type.Optional(Type.String({ description: 'Ignored' }));

const Switch = Type.Optional(clearable(Flag, false));
const Tested = Type.Optional(clearable(withoutEffect(Flag, noEffects.tests), false));

/** Settings of a module, which have no effect. */
const stored = <P extends TProperties>(properties: P) => withoutEffect(closed(properties), noEffects.modules);

/** Fields that a creation and a change have in common; an empty text and null clear a field. */
const fields = {
  description: orNull(Prose),
  logoUrl: orNull(Type.String({ maxLength: 2000, description: 'Address of a picture' })),
  path: orNull(Type.String({ description: 'Folder of the module in the repository; absent: its root' })),
  tagPrefix: orNull(withoutEffect(Text, noEffects.tagPrefix)),
  opentofuVersion: Type.Optional(withoutEffect(clearableOpentofuVersion, noEffects.tests)),
  tokenId: orNull(Text),
  tokenName: orNull(Text),
  sshkeys: orNull(Type.Array(SshKey, { maxItems: 100, description: 'SSH keys that read the repository' })),
  githubInstallationId: orNull(Type.Integer()),
  vcsConnectionId: orNull(Text),
  bitbucketClientKey: orNull(Text),
  gitlabProjectId: orNull(Type.Integer()),
  moduleTestEnabled: Tested,
  runTestsOnPullRequest: Tested,
  isGitLab: Switch,
  isGitLabEnterprise: Switch,
  isGitHubEnterprise: Switch,
  isBitbucketServer: Switch,
  isAzureDevOps: Switch,
};
const Fields = closed(fields);
export type ModuleFields = Static<typeof Fields>;

export const operations = defineOperations('modules', {
  listModules: operation('GET', '/modules', {
    summary: 'List modules',
    needs: 'VIEW_MODULES',
    ...inOrganization,
    reply: Type.Array(Module),
  }),
  createModule: operation('POST', '/modules', {
    summary: 'Create module',
    description: 'Stores the record of a module. Name and provider together are unique in the organization.',
    needs: 'CREATE_AND_EDIT_MODULES',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: stored({
      organizationId: Name,
      type: Type.Optional(Type.Literal('module')),
      moduleName: ModuleName,
      moduleProvider: ModuleProvider,
      repository: Repository,
      ...fields,
      author: Type.Optional({ ...AnyObject, description: 'Ignored' }),
      authorId: IgnoredText,
      createdAt: IgnoredText,
      updatedAt: IgnoredText,
      isDeleted: Type.Optional(Type.Boolean({ description: 'Ignored' })),
    }),
    reply: Module,
  }),
  getModule: operation('GET', '/modules/{id}', {
    summary: 'Get module',
    description: 'A deleted module is returned with `isDeleted`.',
    needs: 'VIEW_MODULES',
    ...thisModule,
    reply: Module,
  }),
  updateModule: operation('PATCH', '/modules/{id}', {
    summary: 'Update module',
    description:
      'Omitted fields are unchanged, except that `opentofuVersion` is cleared. An empty text or null clears a field.',
    needs: 'CREATE_AND_EDIT_MODULES',
    ...thisModule,
    body: stored({
      moduleName: Type.Optional(ModuleName),
      moduleProvider: Type.Optional(ModuleProvider),
      repository: Type.Optional(Repository),
      ...fields,
    }),
    reply: Module,
  }),
  deleteModule: operation('DELETE', '/modules/{id}', {
    summary: 'Delete module',
    description: 'The record can still be read by its id, and its name can be used again.',
    needs: 'CREATE_AND_EDIT_MODULES',
    ...thisModule,
    reply: nullable(Type.Object({ id: Text })),
  }),
});
