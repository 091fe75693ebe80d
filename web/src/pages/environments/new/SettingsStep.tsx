/** The second step: what the environment is called and how it lives. */
import { Group, Radio, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useRead } from '../../../api/queries.ts';
import { Section, Wide } from '../../../forms/Section.tsx';
import { policyWords } from '../../environment/schedule/lifetime.ts';
import type { Draft } from './draft.ts';
import type { NewEnvironmentForm } from './use-new-environment.ts';

type TextName = 'name' | 'workspaceName' | 'k8sNamespace' | 'terragruntWorkingDirectory' | CronName;
type CronName = 'deployCron' | 'destroyCron' | 'driftCron';

function useText({ draft, errors, set }: NewEnvironmentForm) {
  return (name: TextName) => ({
    value: draft[name],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => set({ [name]: event.currentTarget.value }),
    error: errors[name],
    autoComplete: 'off',
  });
}

function NameFields(state: NewEnvironmentForm) {
  const { draft, errors, set } = state;
  const { projectId } = draft;
  const text = useText(state);
  const tags = useRead('listEnvironmentTags', { query: { projectId } }, { enabled: projectId !== '' });
  return (
    <Section title="Name">
      <Wide>
        <TextInput label="Name" required data-autofocus maxLength={300} {...text('name')} />
      </Wide>
      <Wide>
        <Textarea
          label="Description"
          autosize
          maxRows={6}
          maxLength={4000}
          value={draft.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
          error={errors.description}
        />
      </Wide>
      <TagsInput
        label="Tags"
        description="Words to find it by"
        data={tags.data ?? []}
        value={[...draft.tags]}
        onChange={(values) => set({ tags: values })}
        error={errors.tags}
      />
      <TextInput
        label="Workspace"
        description="Of the tool; empty: a generated name"
        spellCheck={false}
        {...text('workspaceName')}
      />
    </Section>
  );
}

function RunFields(state: NewEnvironmentForm) {
  const { draft, type, errors, set, rights, policy, asksApproval } = state;
  const text = useText(state);
  const mayApply = rights.whyNot('RUN_APPLY');
  return (
    <Section title="Runs" hint="How it is deployed.">
      <Wide>
        <Switch
          label="Plans wait for approval"
          description={
            mayApply === undefined ? 'Off: each plan is applied at once' : `Cannot be turned off: ${mayApply}`
          }
          checked={asksApproval}
          disabled={mayApply !== undefined && asksApproval}
          onChange={(event) => set({ requiresApproval: event.currentTarget.checked })}
          error={errors.requiresApproval}
        />
      </Wide>
      <Wide>
        <Switch
          label="Deploy it now"
          description="Off: it is created, and deployed on request"
          checked={draft.isDeployed}
          onChange={(event) => set({ isDeployed: event.currentTarget.checked })}
        />
      </Wide>
      {['k8s', 'helm'].includes(type) && (
        <TextInput
          label="Namespace"
          description="In the cluster; it cannot be changed later"
          {...text('k8sNamespace')}
        />
      )}
      {type === 'terragrunt' && (
        <TextInput
          label="Folder of Terragrunt"
          description="Below the folder of the code; empty: that folder"
          {...text('terragruntWorkingDirectory')}
        />
      )}
      {['terraform', 'opentofu'].includes(type) && (
        <Wide>
          <Switch
            label="Keep the state in the service"
            description={
              policy?.forceRemoteBackend
                ? 'The policy of the project says so'
                : 'Whatever backend the code names'
            }
            checked={draft.isRemoteBackend || (policy?.forceRemoteBackend ?? false)}
            disabled={policy?.forceRemoteBackend ?? false}
            onChange={(event) => set({ isRemoteBackend: event.currentTarget.checked })}
            error={errors.isRemoteBackend}
          />
        </Wide>
      )}
    </Section>
  );
}

const lifetimeWords: readonly { value: Draft['lifetime']; label: string }[] = [
  { value: 'default', label: 'As the policy says' },
  { value: 'hours', label: 'Hours' },
  { value: 'date', label: 'Until a time' },
  { value: 'infinite', label: 'No end' },
];

function LifetimeFields({ draft, errors, set, policy, maxTtl }: NewEnvironmentForm) {
  const longest = policyWords(maxTtl);
  const hint = policy?.disableDestroyEnvironments
    ? 'Environments of this project do not expire: its policy does not allow destroying them.'
    : `When it ends, the environment is destroyed automatically, after notices.${longest === undefined ? '' : ` It may last ${longest} at most.`}`;
  return (
    <Section title="Lifetime" hint={hint}>
      <Wide>
        <Radio.Group
          aria-label="Lifetime"
          value={draft.lifetime}
          onChange={(lifetime) => set({ lifetime: lifetime as Draft['lifetime'] })}
        >
          <Group gap="lg">
            {lifetimeWords.map(({ value, label }) => (
              <Radio key={value} value={value} label={label} />
            ))}
          </Group>
        </Radio.Group>
      </Wide>
      {draft.lifetime === 'hours' && (
        <TextInput
          label="Hours"
          inputMode="numeric"
          value={draft.hours}
          onChange={(event) => set({ hours: event.currentTarget.value })}
          error={errors.hours}
        />
      )}
      {draft.lifetime === 'date' && (
        <TextInput
          label="Until"
          description="In your time zone"
          type="datetime-local"
          value={draft.date}
          onChange={(event) => set({ date: event.currentTarget.value })}
          error={errors.date}
        />
      )}
    </Section>
  );
}

const crons: readonly (readonly [CronName, string, string])[] = [
  ['deployCron', 'Deploy', 'such as 0 6 * * 1-5'],
  ['destroyCron', 'Destroy', 'such as 0 20 * * 1-5'],
  ['driftCron', 'Check for drift', 'such as 0 */6 * * *'],
];

/** Meaning of an empty schedule of drift detection. */
function driftText({ policy }: NewEnvironmentForm): string | undefined {
  if (!policy?.driftDetectionEnabled) return undefined;
  return `Empty: as the policy says, at ${policy.driftDetectionCron}`;
}

export function SettingsStep(state: NewEnvironmentForm) {
  const text = useText(state);
  return (
    <>
      <NameFields {...state} />
      <RunFields {...state} />
      <LifetimeFields {...state} />
      <Section
        title="Schedule"
        hint="Cron expressions with five fields, in UTC. Schedules of deploys and destroys replace the lifetime."
      >
        {crons.map(([name, label, placeholder]) => (
          <TextInput
            key={name}
            label={label}
            description={name === 'driftCron' ? driftText(state) : undefined}
            placeholder={placeholder}
            spellCheck={false}
            {...text(name)}
          />
        ))}
      </Section>
    </>
  );
}
