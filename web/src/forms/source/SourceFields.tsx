/** The fields that say where code comes from and which tool runs it. */
import { Autocomplete, SegmentedControl, Select, Switch, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type CreatableTemplateType, templateTypes } from '#contract/schema/template-types.ts';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { toolName } from '../../design/words.ts';
import { Section, Wide } from '../Section.tsx';
import {
  accessOf,
  type Forge,
  forges,
  looksComplete,
  type SourceErrors,
  type SourceValues,
  type VersionField,
  versionsOf,
  versionWords,
} from './source-values.ts';

export interface SourceFieldsProps {
  readonly values: SourceValues;
  readonly errors: SourceErrors;
  readonly onChange: (changes: Partial<SourceValues>) => void;
  /** For which the repository is read; empty: for none. */
  readonly projectId: string;
  /** Default: all that an environment can have. */
  readonly types?: readonly CreatableTemplateType[];
  /** The folder is not chosen here. */
  readonly hasNoFolder?: boolean;
}

/** Branches and tags of the repository, as far as it can be read. */
function useRevisions(values: SourceValues, projectId: string) {
  const { organizationId } = useSession();
  const [query] = useDebouncedValue(accessOf(values, projectId, organizationId), 500);
  const { data, isError } = useRead(
    'listRepositoryRevisions',
    { query },
    { enabled: looksComplete(query.repository) && !values.isHelmRepository },
  );
  return { heads: data?.heads ?? [], tags: data?.tags ?? [], isError };
}

function RevisionField({ values, errors, onChange, projectId }: SourceFieldsProps) {
  const { heads, tags, isError } = useRevisions(values, projectId);
  const isChart = values.type === 'helm' && values.isHelmRepository;
  const groups = [
    { group: 'Branches', items: heads },
    { group: 'Tags', items: tags.filter((tag) => !heads.includes(tag)) },
  ].filter(({ items }) => items.length > 0);
  return (
    <Autocomplete
      label={isChart ? 'Version of the chart' : 'Revision'}
      description={
        isError
          ? 'Branches and tags cannot be read: type one, or a commit.'
          : isChart
            ? 'Empty: the newest one'
            : 'Branch, tag or commit; empty: the default branch'
      }
      data={groups}
      limit={100}
      value={values.revision}
      onChange={(revision) => onChange({ revision })}
      error={errors.revision}
      autoComplete="off"
    />
  );
}

function HelmFields({ values, errors, onChange }: SourceFieldsProps) {
  return (
    <>
      <Wide>
        <SegmentedControl
          aria-label="Where the chart is"
          data={[
            { value: 'git', label: 'Chart in a git repository' },
            { value: 'charts', label: 'Chart repository' },
          ]}
          value={values.isHelmRepository ? 'charts' : 'git'}
          onChange={(kind) => onChange({ isHelmRepository: kind === 'charts' })}
        />
      </Wide>
      {values.isHelmRepository && (
        <TextInput
          label="Chart"
          description="Its name in the chart repository"
          required
          value={values.helmChartName}
          onChange={(event) => onChange({ helmChartName: event.currentTarget.value })}
          error={errors.helmChartName}
        />
      )}
    </>
  );
}

/** Repository, revision and folder. */
export function CodeFields(props: SourceFieldsProps) {
  const { values, errors, onChange, hasNoFolder = false } = props;
  const isChart = values.type === 'helm' && values.isHelmRepository;
  return (
    <>
      <Wide>
        <TextInput
          label={isChart ? 'Address of the chart repository' : 'Repository'}
          description={
            isChart ? 'https:// or oci://' : 'https:// or ssh:// address, without user and password'
          }
          required
          value={values.repository}
          onChange={(event) => onChange({ repository: event.currentTarget.value })}
          error={errors.repository}
          autoComplete="off"
          spellCheck={false}
        />
      </Wide>
      <RevisionField {...props} />
      {!isChart && !hasNoFolder && (
        <TextInput
          label="Folder"
          description="Of the configuration, in the repository; empty: its root"
          value={values.path}
          onChange={(event) => onChange({ path: event.currentTarget.value })}
          error={errors.path}
          spellCheck={false}
        />
      )}
      {values.type === 'cloudformation' && (
        <TextInput
          label="File of the stack"
          description="In that folder, such as template.yaml"
          required
          value={values.fileName}
          onChange={(event) => onChange({ fileName: event.currentTarget.value })}
          error={errors.fileName}
        />
      )}
    </>
  );
}

const versionLabels: Readonly<Record<VersionField, string>> = {
  terraformVersion: 'Version of Terraform',
  opentofuVersion: 'Version of OpenTofu',
  terragruntVersion: 'Version of Terragrunt',
  pulumiVersion: 'Version of Pulumi',
  ansibleVersion: 'Version of Ansible',
};

/** The tool and its versions. */
export function ToolFields({ values, errors, onChange, types = templateTypes }: SourceFieldsProps) {
  return (
    <>
      <Select
        label="Tool"
        data={types.map((type) => ({ value: type, label: toolName(type) }))}
        value={values.type}
        onChange={(type) => type && onChange({ type })}
        allowDeselect={false}
        error={errors.type}
      />
      {versionsOf(values).map((field) => (
        <Autocomplete
          key={field}
          label={versionLabels[field]}
          description={`A version, or ${versionWords(field).join(' or ')}`}
          data={[...versionWords(field)]}
          value={values[field]}
          onChange={(version) => onChange({ [field]: version })}
          error={errors[field]}
          autoComplete="off"
        />
      ))}
      {values.type === 'terragrunt' && (
        <>
          <Select
            label="What Terragrunt runs"
            data={[
              { value: 'opentofu', label: 'OpenTofu' },
              { value: 'terraform', label: 'Terraform' },
            ]}
            value={values.terragruntTfBinary}
            onChange={(binary) => binary && onChange({ terragruntTfBinary: binary })}
            allowDeselect={false}
            error={errors.terragruntTfBinary}
          />
          <Wide>
            <Switch
              label="All units below the folder"
              description="Off: the one unit in the folder"
              checked={values.isTerragruntRunAll}
              onChange={(event) => onChange({ isTerragruntRunAll: event.currentTarget.checked })}
              error={errors.isTerragruntRunAll}
            />
          </Wide>
        </>
      )}
    </>
  );
}

interface NamedEntry {
  readonly id: string;
  readonly name: string;
}

const optionsOf = (rows: readonly NamedEntry[] | undefined) =>
  (rows ?? []).map(({ id, name }) => ({ value: id, label: name }));

/** Credentials for a repository. */
export function AccessFields({ values, errors, onChange }: SourceFieldsProps) {
  const { organizationId } = useSession();
  const query = { query: { organizationId } };
  const tokens = useRead('listGitTokens', { query: { organizationId, type: 'GIT' } });
  const keys = useRead('listSshKeys', query);
  const connections = useRead('listVcsConnections', query);
  const select = (
    name: 'tokenId' | 'sshKeyId' | 'vcsConnectionId',
    label: string,
    rows?: readonly NamedEntry[],
  ) => (
    <Select
      label={label}
      data={optionsOf(rows)}
      value={values[name] === '' ? null : values[name]}
      onChange={(id) => onChange({ [name]: id ?? '' })}
      placeholder="None"
      clearable
      searchable
      error={errors[name]}
    />
  );
  return (
    <>
      {select('tokenId', 'Git token', tokens.data)}
      {select('sshKeyId', 'SSH key', keys.data)}
      {select('vcsConnectionId', 'VCS connection', connections.data)}
      <Select
        label="Forge"
        data={Object.entries(forges).map(([value, label]) => ({ value, label }))}
        value={values.forge}
        onChange={(forge) => onChange({ forge: (forge ?? '') as Forge })}
        allowDeselect={false}
        error={errors.forge}
      />
    </>
  );
}

/** Tool, code and access, as three sections. */
export function SourceFields(props: SourceFieldsProps) {
  return (
    <>
      <Section title="Tool" hint="What runs the code, and in which version.">
        <ToolFields {...props} />
        {props.values.type === 'helm' && <HelmFields {...props} />}
      </Section>
      <Section title="Code" hint="Where the configuration is.">
        <CodeFields {...props} />
      </Section>
      <Section
        title="Access"
        hint="What the repository is read with. Without any, a token of the organization for its host is used."
      >
        <AccessFields {...props} />
      </Section>
    </>
  );
}
