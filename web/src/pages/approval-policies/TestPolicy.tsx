/** Verdict of a policy about the plan of a stored deployment; also with another configuration. */
import { Select } from '@mantine/core';
import { useState } from 'react';
import type { ApprovalPolicy } from '#contract/custom-flows/shapes.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { useChange, usePage } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { deploymentTypeWords } from '../../design/words.ts';
import { EnvironmentSelect } from '../../forms/EnvironmentSelect.tsx';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { useWrongField } from '../../forms/problems.ts';
import { Section } from '../../forms/Section.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { ConfigurationSection } from './ConfigurationSection.tsx';
import { objectOf, type PolicyErrors, policyErrors, policyField, policyValues } from './policy-values.ts';
import { TestResult } from './TestResult.tsx';
import { usePolicySchema } from './use-policy-schema.ts';

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function labelOf({ type, queuedAt }: Deployment): string {
  return `${deploymentTypeWords[type]}${queuedAt ? `, ${clock.format(Date.parse(queuedAt))}` : ''}`;
}

/** The newest deployments of an environment that have a plan; the newest one unless another is chosen. */
function usePlanned(environmentId: string | null, chosen: string) {
  const { data } = usePage(
    'listDeployments',
    {
      params: { id: environmentId ?? '' },
      query: { limit: 50, deploymentTypes: 'deploy,destroy,prPlan,dryRun,remotePlan,driftDetection' },
    },
    { enabled: environmentId !== null },
  );
  const planned = environmentId === null ? [] : (data?.rows ?? []).filter((each) => each.planSummary);
  const found = planned.find(({ id }) => id === chosen) ?? planned[0];
  return { isKnown: data !== undefined, planned, deploymentId: found?.id ?? '' };
}

function useTest(policy: ApprovalPolicy) {
  const stored = policyValues(policy);
  const [values, setValues] = useState({
    ...{ environmentId: null as string | null, chosen: '' },
    ...{ configurationText: stored.configurationText, isJson: false },
  });
  const [errors, setErrors] = useState<PolicyErrors>({});
  const { isKnown, planned, deploymentId } = usePlanned(values.environmentId, values.chosen);
  const known = usePolicySchema(stored);
  useWrongField(errors);
  const tested = { ...stored, configurationText: values.configurationText, isJson: values.isJson };
  const test = useChange('testApprovalPolicy', {
    refreshes: [],
    onError: (error) => {
      const field = policyField(fieldOf(error) ?? '', tested);
      if (field !== undefined) setErrors({ [field]: fieldText(error) });
      return true;
    },
  });
  const submit = () => {
    const wrong = policyErrors(tested, known.schema);
    setErrors(wrong);
    if (Object.keys(wrong).length > 0) return;
    const isChanged = values.configurationText !== stored.configurationText;
    const policyConfiguration = objectOf(values.configurationText);
    test.mutate({
      body: {
        ...{ deploymentId, policyId: policy.id },
        ...(isChanged && policyConfiguration ? { policyConfiguration } : {}),
      },
    });
  };
  const change = (changes: Partial<typeof values>) => {
    setErrors({});
    test.reset();
    setValues({ ...values, ...changes });
  };
  return { values, errors, isKnown, planned, deploymentId, known, test, submit, change };
}

export function TestPolicy({ policy }: { readonly policy: ApprovalPolicy }) {
  const { organizationId } = useSession();
  const { values, errors, isKnown, planned, deploymentId, known, test, submit, change } = useTest(policy);
  const { environmentId } = values;
  const nothing = isKnown ? 'None of its deployments has a plan.' : undefined;
  const missing =
    environmentId === null
      ? 'Choose an environment first.'
      : deploymentId === ''
        ? (nothing ?? 'Loading its deployments.')
        : undefined;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Section title="Plan" hint="Of a deployment that is stored. Nothing of it changes.">
        <EnvironmentSelect
          label="Environment"
          within={{ organizationId }}
          value={environmentId}
          onChange={(id) => change({ environmentId: id, chosen: '' })}
          error={environmentId !== null && deploymentId === '' ? nothing : undefined}
        />
        <Select
          label="Deployment"
          data={planned.map((each) => ({ value: each.id ?? '', label: labelOf(each) }))}
          value={deploymentId === '' ? null : deploymentId}
          onChange={(id) => change({ chosen: id ?? '' })}
          placeholder="The newest with a plan"
          disabled={planned.length === 0}
          allowDeselect={false}
        />
      </Section>
      {(policyValues(policy).origin === 'repository' || known.schema !== undefined) && (
        <ConfigurationSection known={known} values={values} errors={errors} onChange={change} />
      )}
      <ActionButton type="submit" whyNot={missing} loading={test.isPending}>
        Test
      </ActionButton>
      <div aria-live="polite">
        <FormAlert error={test.error} />
        {test.data && <TestResult tested={test.data} deploymentId={deploymentId} />}
      </div>
    </form>
  );
}
