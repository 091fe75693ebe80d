/** The form of an approval policy, for new ones and for changes. */
import { Button, JsonInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { useWrongField } from '../../forms/problems.ts';
import { FormFoot, Section, Wide } from '../../forms/Section.tsx';
import { AccessFields, CodeFields } from '../../forms/source/SourceFields.tsx';
import { sourceErrorsOf } from '../../forms/source/source-values.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { ConfigurationFields } from './ConfigurationFields.tsx';
import { type PolicyErrors, policyErrors, type PolicyValues } from './policy-values.ts';
import classes from './policies.module.css';

export interface PolicyFormProps {
  readonly values: PolicyValues;
  readonly errors: PolicyErrors;
  readonly onChange: (changes: Partial<PolicyValues>) => void;
  /** What is wrong before the service is asked, if anything. */
  readonly onSubmit: (wrong: PolicyErrors) => void;
  readonly onCancel: () => void;
  readonly verb: string;
  readonly isBusy: boolean;
  readonly whyNot: string | undefined;
  /** A refusal that names no field. */
  readonly failure: unknown;
}

/** The policy of the catalogue that the form names, as far as it is known. */
function useCatalogued({ folder }: PolicyValues) {
  const { data = [] } = useRead('listCataloguePolicies');
  return { all: data, policy: data.find(({ path }) => path === folder) };
}

function CatalogueFields({ values, errors, onChange }: PolicyFormProps) {
  const { all, policy } = useCatalogued(values);
  return (
    <>
      <Section title="Policy">
        <Wide>
          <Select
            label="Policy of the catalogue"
            required
            searchable
            data={all.map(({ path, name }) => ({ value: path, label: name }))}
            value={values.folder === '' ? null : values.folder}
            onChange={(folder) => {
              const chosen = all.find(({ path }) => path === folder);
              const isUnnamed = values.name === '' || values.name === policy?.name;
              onChange({
                ...{ folder: folder ?? '', configuration: {} },
                ...(isUnnamed ? { name: chosen?.name ?? '' } : {}),
              });
            }}
            error={errors.folder}
          />
          {policy && (
            <p className={classes.explanation}>
              {policy.description} {policy.explanation}
            </p>
          )}
        </Wide>
      </Section>
      {policy && (
        <ConfigurationFields
          policy={policy}
          values={values.configuration}
          errors={errors}
          onChange={(configuration) => onChange({ configuration })}
        />
      )}
    </>
  );
}

function RepositoryFields({ values, errors, onChange }: PolicyFormProps) {
  const source = {
    values: values.source,
    errors: sourceErrorsOf(errors),
    onChange: (changes: Partial<PolicyValues['source']>) =>
      onChange({ source: { ...values.source, ...changes } }),
    projectId: '',
  };
  return (
    <>
      <Section title="Code" hint="The folder with the files in Rego, whose package is envarium.">
        <CodeFields {...source} />
      </Section>
      <Section
        title="Access"
        hint="What the repository is read with. Without any, a token of the organization for its host is used."
      >
        <AccessFields {...source} />
      </Section>
      <Section title="Configuration" hint="What the policy reads as input.policyConfiguration.">
        <Wide>
          <JsonInput
            label="JSON object"
            autosize
            minRows={3}
            maxRows={20}
            value={values.configurationText}
            onChange={(configurationText) => onChange({ configurationText })}
            error={errors.configurationText}
            spellCheck={false}
          />
        </Wide>
      </Section>
    </>
  );
}

export function PolicyForm(props: PolicyFormProps) {
  const { values, errors, onChange, onSubmit, onCancel, verb, isBusy, whyNot, failure } = props;
  const { policy } = useCatalogued(values);
  useWrongField(errors);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(policyErrors(values, policy));
      }}
    >
      <FormAlert mb="md" error={failure} />
      <Section title="Name">
        <Wide>
          <TextInput
            label="Name"
            description="Unique among the approval policies of the organization"
            required
            maxLength={300}
            value={values.name}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
            error={errors.name}
            autoComplete="off"
          />
        </Wide>
        <Wide>
          <SegmentedControl
            aria-label="Where the policy is"
            data={[
              { value: 'catalogue', label: 'From the catalogue' },
              { value: 'repository', label: 'In a git repository' },
            ]}
            value={values.origin}
            onChange={(origin) => onChange({ origin: origin as PolicyValues['origin'] })}
          />
        </Wide>
      </Section>
      {values.origin === 'catalogue' ? <CatalogueFields {...props} /> : <RepositoryFields {...props} />}
      <FormFoot>
        <ActionButton type="submit" whyNot={whyNot} loading={isBusy}>
          {verb}
        </ActionButton>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </FormFoot>
    </form>
  );
}
