/** The fields of the configuration of environment discovery. */
import { NumberInput, Radio, Stack, Switch, TextInput } from '@mantine/core';
import {
  discoveryTypes,
  environmentPlacements,
  removals,
  workspaceNamings,
} from '#contract/discovery/choices.ts';
import { noEffects } from '#contract/schema/no-effect-words.ts';
import { Section, Wide } from '../../../forms/Section.tsx';
import { Segments } from '../../../forms/Segments.tsx';
import { RetrySection } from '../../../forms/source/RetrySection.tsx';
import { AccessFields, CodeFields, ToolFields } from '../../../forms/source/SourceFields.tsx';
import { sourceErrorsOf } from '../../../forms/source/source-values.ts';
import { namingWords, placementWords, removalWords } from './discovery-looks.ts';
import type { DiscoveryErrors, DiscoveryValues } from './discovery-values.ts';

export interface DiscoveryFieldsProps {
  readonly projectId: string;
  readonly values: DiscoveryValues;
  readonly errors: DiscoveryErrors;
  readonly onChange: (changes: Partial<DiscoveryValues>) => void;
}

const withoutEffect = (text: string, consequence: string) =>
  `${text} Stored, without effect yet: ${consequence}.`;

interface RadioChoiceProps<Value extends string> {
  readonly label: string;
  readonly choices: readonly Value[];
  readonly words: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly error: string | undefined;
}

function RadioChoice<Value extends string>({
  label,
  choices,
  words,
  value,
  onChange,
  error,
}: RadioChoiceProps<Value>) {
  return (
    <Wide>
      <Radio.Group label={label} value={value} onChange={(next) => onChange(next as Value)} error={error}>
        <Stack gap="xs" mt="xs">
          {choices.map((choice) => (
            <Radio key={choice} value={choice} label={words[choice]} />
          ))}
        </Stack>
      </Radio.Group>
    </Wide>
  );
}

function FolderFields({ values, errors, onChange }: DiscoveryFieldsProps) {
  return (
    <Section
      title="Folders"
      hint="Every matching file makes its folder an environment. Names begin below the root path."
    >
      <Wide>
        <TextInput
          label="Glob"
          description="Such as prod/**/main.tf, or +(prod/**/main.tf|test/*/main.tf); exclusions such as !(modules)/**/main.tf"
          required
          value={values.globPattern}
          onChange={(event) => onChange({ globPattern: event.currentTarget.value })}
          error={errors.globPattern}
          autoComplete="off"
          spellCheck={false}
        />
      </Wide>
      <TextInput
        label="Root path"
        description="A folder; empty: the root of the repository"
        value={values.rootPath}
        onChange={(event) => onChange({ rootPath: event.currentTarget.value })}
        error={errors.rootPath}
        spellCheck={false}
      />
    </Section>
  );
}

function EnvironmentFields({ values, errors, onChange }: DiscoveryFieldsProps) {
  return (
    <Section title="Environments" hint="Only for new ones. Existing environments stay as they are.">
      <RadioChoice
        label="Project"
        choices={environmentPlacements}
        words={placementWords}
        value={values.environmentPlacement}
        onChange={(environmentPlacement) => onChange({ environmentPlacement })}
        error={errors.environmentPlacement}
      />
      <RadioChoice
        label="Workspace"
        choices={workspaceNamings}
        words={namingWords}
        value={values.workspaceNaming}
        onChange={(workspaceNaming) => onChange({ workspaceNaming })}
        error={errors.workspaceNaming}
      />
    </Section>
  );
}

function RemovalFields({ values, errors, onChange }: DiscoveryFieldsProps) {
  return (
    <Section
      title={values.kind === 'glob' ? 'Folders that are gone' : 'Entries that are gone'}
      hint="A failed scan, a missing branch or another configuration never removes an environment."
    >
      <RadioChoice
        label={`If ${values.kind === 'glob' ? 'a folder' : 'an entry'} disappears from the branch`}
        choices={removals}
        words={removalWords}
        value={values.onRemoval}
        onChange={(onRemoval) => onChange({ onRemoval })}
        error={errors.onRemoval}
      />
      {values.onRemoval !== 'flag' && (
        <NumberInput
          label="Ask first above"
          description="Share of the environments that one scan would remove"
          suffix=" %"
          min={0}
          max={100}
          allowDecimal={false}
          value={values.removalLimitPercent}
          onChange={(removalLimitPercent) => onChange({ removalLimitPercent })}
          error={errors.removalLimitPercent}
        />
      )}
    </Section>
  );
}

function LaterFields({ values, errors, onChange }: DiscoveryFieldsProps) {
  return (
    <Section title="Pushes and pull requests">
      <Wide>
        <TextInput
          label="Files whose changes deploy an environment"
          description={withoutEffect(
            'A glob; empty: those in the folder of the environment.',
            noEffects.deployedPaths,
          )}
          value={values.autoDeployByCustomGlob}
          onChange={(event) => onChange({ autoDeployByCustomGlob: event.currentTarget.value })}
          error={errors.autoDeployByCustomGlob}
          spellCheck={false}
        />
      </Wide>
      <Wide>
        <Switch
          label="Create environments from pull requests"
          description={withoutEffect('', noEffects.pullRequestPlanDeployments).trim()}
          checked={values.createNewEnvironmentsFromPullRequests}
          onChange={(event) =>
            onChange({ createNewEnvironmentsFromPullRequests: event.currentTarget.checked })
          }
        />
      </Wide>
    </Section>
  );
}

function GlobFields(props: DiscoveryFieldsProps) {
  const { values, errors, onChange, projectId } = props;
  const source = {
    values: values.source,
    errors: sourceErrorsOf(errors),
    onChange: (changes: Partial<DiscoveryValues['source']>) =>
      onChange({ source: { ...values.source, ...changes } }),
    projectId,
    types: discoveryTypes,
    hasNoFolder: true,
  };
  return (
    <>
      <Section title="Repository" hint="Scanned when you save, and every hour if the branch has moved.">
        <CodeFields {...source} />
      </Section>
      <FolderFields {...props} />
      <Section title="Tool" hint="What runs the code of the new environments, and in which version.">
        <ToolFields {...source} />
      </Section>
      <EnvironmentFields {...props} />
      <RemovalFields {...props} />
      <Section
        title="Access"
        hint="What the repository is read with. Without any, a token of the organization for its host is used."
      >
        <AccessFields {...source} />
      </Section>
      <RetrySection {...{ values, errors, onChange }} />
      <LaterFields {...props} />
    </>
  );
}

function FileFields(props: DiscoveryFieldsProps) {
  const { values, errors, onChange } = props;
  return (
    <>
      <Section
        title="Repositories"
        hint="Whose envarium-discovery.yml may create environments in this project. Those that its templates name are known."
      >
        <Wide>
          <TextInput
            label="Owner and name"
            description="Regular expression, such as acme/(shop|search)."
            required
            value={values.repositoryRegex}
            onChange={(event) => onChange({ repositoryRegex: event.currentTarget.value })}
            error={errors.repositoryRegex}
            spellCheck={false}
          />
        </Wide>
      </Section>
      <RemovalFields {...props} />
    </>
  );
}

export function DiscoveryFields(props: DiscoveryFieldsProps) {
  const { values, onChange } = props;
  return (
    <>
      <Section title="Found by">
        <Wide>
          <Segments
            label="Found by"
            data={[
              { value: 'glob', label: 'A glob in a repository' },
              { value: 'files', label: 'Discovery files' },
            ]}
            value={values.kind}
            onChange={(kind) => onChange({ kind })}
          />
        </Wide>
      </Section>
      {values.kind === 'glob' ? <GlobFields {...props} /> : <FileFields {...props} />}
    </>
  );
}
