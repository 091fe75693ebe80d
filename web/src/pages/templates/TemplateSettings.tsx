/** The settings of a template, to read. */
import type { Template } from '#contract/templates/shapes.ts';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { toolName } from '../../design/words.ts';
import { forges, sourceOf, versionsOf } from '../../forms/source/source-values.ts';
import { Facts } from '../../ui/Facts.tsx';
import { TimeAgo } from '../../ui/Time.tsx';

type RetrySetting = NonNullable<Template['retry']>['onDeploy'];

function ruleText(what: string, rule: RetrySetting): string | undefined {
  if (!rule?.times) return undefined;
  const when = rule.errorRegex ? ` if the error matches ${rule.errorRegex}` : '';
  return `${what} up to ${rule.times} times${when}`;
}

/** Credentials of the repository, by name. */
function useAccessText({ tokenId, tokenName, sshKeys = [], vcsConnectionId }: Template): string {
  const { organizationId } = useSession();
  const query = { query: { organizationId } };
  const tokens = useRead('listGitTokens', query);
  const connections = useRead('listVcsConnections', query);
  const token = tokens.data?.find(({ id }) => id === tokenId)?.name ?? tokenName ?? tokenId;
  const connection = connections.data?.find(({ id }) => id === vcsConnectionId)?.name ?? vcsConnectionId;
  const parts = [
    ...(token ? [`git token ${token}`] : []),
    ...sshKeys.map(({ id, name }) => `ssh key ${name ?? id}`),
    ...(connection ? [`VCS connection ${connection}`] : []),
  ];
  return parts.length === 0 ? 'A token of the organization for its host, if there is one' : parts.join(', ');
}

export function TemplateSettings({ template }: { readonly template: Template }) {
  const source = sourceOf(template);
  const access = useAccessText(template);
  const versions = versionsOf(source).flatMap((field) =>
    source[field] === '' ? [] : [`${field.replace('Version', '')} ${source[field]}`],
  );
  const { retry, author, createdAt, updatedAt, tagPrefix, creationScope } = template;
  const retries = [ruleText('Deploys', retry?.onDeploy), ruleText('Destroys', retry?.onDestroy)].filter(
    Boolean,
  );
  return (
    <Facts
      facts={[
        ['Repository', <code key="repository">{source.repository}</code>],
        [source.isHelmRepository ? 'Version of the chart' : 'Revision', source.revision || 'The default one'],
        ['Chart', source.isHelmRepository ? source.helmChartName : undefined],
        ['Folder', source.isHelmRepository ? undefined : source.path || 'The root of the repository'],
        ['File of the stack', source.fileName],
        ['Tool', toolName(source.type)],
        ['Versions', versions.join(', ')],
        ['Terragrunt runs', source.type === 'terragrunt' ? toolName(source.terragruntTfBinary) : undefined],
        ['Units', source.isTerragruntRunAll ? 'All below the folder' : undefined],
        ['Read with', access],
        ['Forge', source.forge === '' ? undefined : forges[source.forge]],
        ['Retries', retries.join('; ') || 'None'],
        ['Prefix of tags', tagPrefix],
        ['Belongs to', creationScope === 'PROJECT' ? 'A project' : 'The organization'],
        ['Created', createdAt && <TimeAgo at={createdAt} />],
        ['By', author?.name ?? author?.email],
        ['Changed', updatedAt && <TimeAgo at={updatedAt} />],
        ['Id', <code key="id">{template.id}</code>],
      ]}
    />
  );
}
