/** The fields of an environment's settings. */
import { Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useRead } from '../../../api/queries.ts';
import { Section, Wide } from '../../../forms/Section.tsx';
import { describeSetting } from '../../../forms/without-effect.ts';
import type { EnvironmentProps } from '../facts/reads.ts';
import type { SettingName, SettingsValues } from './settings-values.ts';

export interface SettingsFieldsProps extends EnvironmentProps {
  readonly values: SettingsValues;
  readonly set: (changes: Partial<SettingsValues>) => void;
  readonly isDisabled: boolean;
  /** Refusals of the service, by field. */
  readonly errorOf: (name: SettingName) => string | undefined;
}

type SettingTextName = 'name' | 'autoDeployByCustomGlob' | 'vcsCommandsAlias' | 'terragruntWorkingDirectory';
type SwitchName = {
  [Name in SettingName]: SettingsValues[Name] extends boolean ? Name : never;
}[SettingName];

function SettingText({ values, set, isDisabled, errorOf, name, ...props }: SettingsFieldsProps & TextProps) {
  const { label, description, isRequired = false } = props;
  return (
    <TextInput
      label={label}
      description={describeSetting(name, description)}
      required={isRequired}
      disabled={isDisabled}
      value={values[name]}
      error={errorOf(name)}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
    />
  );
}

interface TextProps {
  readonly name: SettingTextName;
  readonly label: string;
  readonly description?: string;
  readonly isRequired?: boolean;
}

interface SwitchProps {
  readonly name: SwitchName;
  readonly label: string;
  readonly description?: string | undefined;
  /** Why it cannot be changed although other settings can. */
  readonly whyNot?: string | undefined;
}

function SettingSwitch({
  values,
  set,
  isDisabled,
  errorOf,
  name,
  ...props
}: SettingsFieldsProps & SwitchProps) {
  const { label, description, whyNot } = props;
  return (
    <Wide>
      <Switch
        label={label}
        description={whyNot ?? describeSetting(name, description)}
        checked={values[name]}
        disabled={isDisabled || whyNot !== undefined}
        error={errorOf(name)}
        onChange={({ currentTarget }) => set({ [name]: currentTarget.checked })}
      />
    </Wide>
  );
}

function General(props: SettingsFieldsProps) {
  const { environment, values, set, isDisabled, errorOf } = props;
  const { data: known = [] } = useRead('listEnvironmentTags', {
    query: { projectId: environment.projectId },
  });
  return (
    <Section title="General">
      <Wide>
        <SettingText {...props} name="name" label="Name" isRequired />
      </Wide>
      <Wide>
        <Textarea
          label="Description"
          autosize
          disabled={isDisabled}
          value={values.description}
          error={errorOf('description')}
          onChange={({ currentTarget }) => set({ description: currentTarget.value })}
        />
      </Wide>
      <Wide>
        <TagsInput
          label="Tags"
          data={known}
          maxTags={50}
          disabled={isDisabled}
          value={[...values.tags]}
          error={errorOf('tags')}
          onChange={(tags) => set({ tags })}
        />
      </Wide>
    </Section>
  );
}

function Runs(props: SettingsFieldsProps) {
  const { environment, rights, values } = props;
  const mayApply = rights.whyNot('RUN_APPLY');
  const type = environment.latestDeploymentLog?.blueprintType;
  return (
    <Section title="Runs" hint="How it is deployed, and where its state is.">
      <SettingSwitch
        {...props}
        name="requiresApproval"
        label="Plans wait for approval"
        description="Off: each plan is applied at once"
        whyNot={values.requiresApproval ? mayApply : undefined}
      />
      <SettingSwitch
        {...props}
        name="isRemoteBackend"
        label="Keep the state in the service"
        description="Whatever backend the code names. Turning it off needs a cleared state."
      />
      <SettingSwitch
        {...props}
        name="isRemoteApplyEnabled"
        label="Apply from the command line of the tool"
        whyNot={rights.whyNot('EDIT_ALLOW_REMOTE_APPLY')}
      />
      {type === 'terragrunt' && (
        <SettingText
          {...props}
          name="terragruntWorkingDirectory"
          label="Folder of Terragrunt"
          description="Below the folder of the code. It cannot change while there may be resources."
        />
      )}
    </Section>
  );
}

function FromGit(props: SettingsFieldsProps) {
  return (
    <Section title="From git" hint="What pushes, pull requests and comments do.">
      <SettingSwitch {...props} name="continuousDeployment" label="Deploy when the revision changes" />
      <SettingSwitch
        {...props}
        name="autoDeployOnPathChangesOnly"
        label="Only when something below its path changes"
      />
      <SettingText
        {...props}
        name="autoDeployByCustomGlob"
        label="Or when these paths change"
        description="A pattern such as modules/**"
      />
      <SettingSwitch {...props} name="pullRequestPlanDeployments" label="Plan pull requests" />
      <SettingSwitch {...props} name="vcsPrCommentsEnabled" label="Read commands from comments" />
      <SettingText
        {...props}
        name="vcsCommandsAlias"
        label="Name in these commands"
        description="Instead of the name of the environment"
      />
    </Section>
  );
}

export function SettingsFields(props: SettingsFieldsProps) {
  return (
    <>
      <General {...props} />
      <Runs {...props} />
      <FromGit {...props} />
    </>
  );
}
