/** The policies of an organization. */
import { Select, Stack, Switch } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Reply, Tagged } from '../../api/queries.ts';
import { describeSetting } from '../../forms/without-effect.ts';
import { Part } from '../../records/Part.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { ttlOptions } from '../projects/policy-fields.ts';
import { flagsWithEffect, flagsWithoutEffect, type OrganizationFlag } from './policy-texts.ts';

type OrganizationSettings = Reply<'getOrganization'>;
type OrganizationFlagValues = Record<OrganizationFlag['name'], boolean>;

interface OrganizationPolicyValues extends OrganizationFlagValues, Record<string, unknown> {
  /** Empty: no end. */
  maxTtl: string;
  defaultTtl: string;
  projectCustomFlowsPolicy: OrganizationSettings['projectCustomFlowsPolicy'];
}

const allFlags = [...flagsWithEffect, ...flagsWithoutEffect];

function valuesOf(organization: OrganizationSettings): OrganizationPolicyValues {
  return {
    ...(Object.fromEntries(allFlags.map(({ name }) => [name, organization[name]])) as OrganizationFlagValues),
    maxTtl: organization.maxTtl ?? '',
    defaultTtl: organization.defaultTtl ?? '',
    projectCustomFlowsPolicy: organization.projectCustomFlowsPolicy,
  };
}

type PolicyForm = UseFormReturnType<OrganizationPolicyValues>;

function FlagFields({
  form,
  flags,
}: {
  readonly form: PolicyForm;
  readonly flags: readonly OrganizationFlag[];
}) {
  return flags.map(({ name, label, meaning }) => (
    <Switch
      key={name}
      label={label}
      description={describeSetting(name, meaning)}
      {...form.getInputProps(name, { type: 'checkbox' })}
    />
  ));
}

/** Organizations inherit nothing. */
const lifetimes = (value: string) => ttlOptions(value).filter((option) => option.value !== 'inherit');

function LifetimeFields({ form }: { readonly form: PolicyForm }) {
  return (
    <>
      <Select
        label="Longest lifetime of an environment"
        description="Counted from its creation. It applies to future requests; the right OVERRIDE_MAX_TTL overrides it."
        allowDeselect={false}
        data={lifetimes(form.values.maxTtl)}
        {...form.getInputProps('maxTtl')}
      />
      <Select
        label="Lifetime of environments that are created without one"
        description="At most the longest one. No end: the longest one, if there is one."
        allowDeselect={false}
        data={lifetimes(form.values.defaultTtl)}
        {...form.getInputProps('defaultTtl')}
      />
    </>
  );
}

function StoredFields({ form }: { readonly form: PolicyForm }) {
  return (
    <>
      <Select
        label="Custom flows of a project and of its templates"
        allowDeselect={false}
        data={[
          { value: 'MERGE_WITH_TEMPLATES', label: 'Both are used' },
          { value: 'OVERRIDE_TEMPLATES', label: 'Those of the project replace the others' },
        ]}
        {...form.getInputProps('projectCustomFlowsPolicy')}
      />
      <FlagFields form={form} flags={flagsWithoutEffect} />
    </>
  );
}

export interface PoliciesFormProps {
  readonly record: Tagged<OrganizationSettings>;
  readonly whyNot: string | undefined;
}

export function PoliciesForm({ record, whyNot }: PoliciesFormProps) {
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      operation="updateOrganizationPolicies"
      refreshes={['getOrganization', 'listOrganizations']}
      inputOf={({ maxTtl, defaultTtl, ...rest }) => ({
        params: { id: record.data.id },
        body: { ...rest, maxTtl: maxTtl || null, defaultTtl: defaultTtl || null },
      })}
      done="The policies were changed"
      whyNot={whyNot}
      verb="Save policies"
      variant="filled"
      question="Leave without saving the changed policies?"
      gap="md"
      maxWidth="40rem"
    >
      {(form) => (
        <>
          <Part title="Lifetimes and runs">
            <Stack gap="md">
              <LifetimeFields form={form} />
              <FlagFields form={form} flags={flagsWithEffect} />
            </Stack>
          </Part>
          <Part
            title="Without effect so far"
            lead="Stored for clients that set them: nothing reads them yet."
          >
            <Stack gap="md">
              <StoredFields form={form} />
            </Stack>
          </Part>
        </>
      )}
    </RecordForm>
  );
}
