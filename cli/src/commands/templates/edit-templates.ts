/** Commands that create and change templates. */
import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import { creatableTemplateTypes } from '#contract/schema/template-types.ts';
import { templateSettingNames } from '#contract/templates/setting-names.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { findOrganization, findProject } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import { findTemplate } from './find-template.ts';
import { type RetryFlags, retryOf, withRetryFlags } from './retry-flags.ts';
import { type SourceFlags, sourceFields, withSourceFlags } from './source-flags.ts';
import { type ToolFlags, toolFields, withToolFlags } from './tool-flags.ts';

type TemplateUpdate = CallInput<'updateTemplate'>['body'];

interface EditTemplateFlags extends SourceFlags, ToolFlags, RetryFlags {
  readonly name?: string;
  readonly description?: string;
}

interface CreateTemplateFlags extends EditTemplateFlags {
  readonly project?: string[];
  readonly inProject?: string;
}

function withEditFlags(command: Command): Command {
  return withRetryFlags(
    withToolFlags(
      withSourceFlags(command, creatableTemplateTypes).option('--description <text>', 'what it is for'),
    ),
  );
}

/** The settings of the flags, on top of those before. An empty text clears a setting. */
async function settingsOf(
  { client }: CommandSession,
  organizationId: string,
  flags: EditTemplateFlags,
  { type, before }: { readonly type: string; readonly before?: Template },
): Promise<Partial<TemplateUpdate>> {
  const { description } = flags;
  return {
    ...(await sourceFields(client, organizationId, flags, type)),
    ...(description === undefined ? {} : { description }),
    ...toolFields(flags, before?.terragruntTfBinary),
    retry: retryOf(flags, before?.retry),
  };
}

function addCreate(group: Command): void {
  const create = withEditFlags(group.command('create <name>').description('create a template'))
    .option('--project <project>', 'id or exact name of a project that may use it; may be repeated', gather)
    .option('--in-project <project>', 'create it in this project instead of the organization');
  onCall<CreateTemplateFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    if (!options.repository) throw new BadCall('Specify --repository, the git repository of the code.');
    const { id: organizationId } = await findOrganization(session);
    const type = options.type ?? 'terraform';
    const projects = await Promise.all(
      (options.project ?? []).map((project) => findProject(client, organizationId, project)),
    );
    const home = options.inProject && (await findProject(client, organizationId, options.inProject));
    const template = await client.call('createTemplate', {
      body: {
        ...(await settingsOf(session, organizationId, options, { type })),
        organizationId,
        name,
        repository: options.repository,
        // The service decides which types it supports.
        type: type as TemplateUpdate['type'],
        projectIds: projects.map(({ id }) => id),
        ...(home ? { creationScope: 'PROJECT' as const, creationScopeId: home.id } : {}),
      },
    });
    return session.answer(template, () => `Template ${plain(name)} was created: ${template.id}`);
  });
}

/** The fields that a change sends back as they were read. */
const keptFields = [
  'name',
  'type',
  'repository',
  ...templateSettingNames,
] as const satisfies readonly (keyof TemplateUpdate & keyof Template)[];

/** A template as a request describes it. */
function bodyOf(template: Template): TemplateUpdate {
  return Object.fromEntries(
    keptFields.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]]])),
  ) as TemplateUpdate;
}

function addEdit(group: Command): void {
  const edit = withEditFlags(
    group
      .command('edit <template>')
      .description(
        'change a template for later deployments of all its environments; an empty text clears a setting',
      ),
  ).option('--name <name>', 'its new name');
  onCall<EditTemplateFlags>(edit, async ({ session, args: [idOrName = ''], options }) => {
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const before = await findTemplate(client, organizationId, idOrName);
    const type = options.type ?? before.type;
    const changes = await settingsOf(session, organizationId, options, { type, before });
    const body = {
      ...bodyOf(before),
      ...changes,
      type: type as TemplateUpdate['type'],
      ...(options.name === undefined ? {} : { name: options.name }),
    };
    const filled = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== ''),
    ) as TemplateUpdate;
    const template = await client.call('updateTemplate', { params: { id: before.id ?? '' }, body: filled });
    return session.answer(
      template,
      () =>
        `Template ${plain(template.name)} was changed: its environments use it from their next deployment on`,
    );
  });
}

export function addTemplateEditCommands(group: Command): void {
  addCreate(group);
  addEdit(group);
}
