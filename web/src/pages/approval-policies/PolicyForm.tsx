/** The form of an approval policy, for new ones and for changes. */
import { Alert, Select } from '@mantine/core';
import { fieldText } from '../../api/errors.ts';
import { useRead } from '../../api/queries.ts';
import { NameField } from '../../forms/NameFields.tsx';
import type { PageFormProps } from '../../forms/PageForm.tsx';
import { PageForm } from '../../forms/PageForm.tsx';
import { useWrongField } from '../../forms/problems.ts';
import { Section, Wide } from '../../forms/Section.tsx';
import { Segments } from '../../forms/Segments.tsx';
import { AccessFields, CodeFields } from '../../forms/source/SourceFields.tsx';
import { sourceErrorsOf } from '../../forms/source/source-values.ts';
import { ConfigurationSection } from './ConfigurationSection.tsx';
import classes from './policies.module.css';
import { type ApprovalPolicyValues, type PolicyErrors, policyErrors } from './policy-values.ts';
import { usePolicySchema } from './use-policy-schema.ts';

export interface PolicyFormProps extends Omit<PageFormProps, 'onSubmit' | 'children'> {
  readonly values: ApprovalPolicyValues;
  readonly errors: PolicyErrors;
  readonly onChange: (changes: Partial<ApprovalPolicyValues>) => void;
  /** Problems found before the request, if any. */
  readonly onSubmit: (wrong: PolicyErrors) => void;
}

const origins = [
  { value: 'catalogue', label: 'From the catalogue' },
  { value: 'repository', label: 'In a git repository' },
] as const;

/** The policy of the catalogue that the form names, as far as it is known. */
function useCatalogued({ folder }: ApprovalPolicyValues) {
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
                ...{ folder: folder ?? '', configurationText: '', isJson: false },
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
    </>
  );
}

function RepositoryFields({
  values,
  errors,
  onChange,
  unread,
}: PolicyFormProps & { readonly unread: Error | null }) {
  const source = {
    values: values.source,
    errors: sourceErrorsOf(errors),
    onChange: (changes: Partial<ApprovalPolicyValues['source']>) =>
      onChange({ source: { ...values.source, ...changes } }),
    projectId: '',
  };
  return (
    <>
      <Section title="Code" hint="The folder with the files in Rego, whose package is envarium.">
        <CodeFields {...source} />
        {unread !== null && (
          <Wide>
            <Alert color="yellow" title="The policy cannot be read as it is" className={classes.unread!}>
              {fieldText(unread)}
            </Alert>
          </Wide>
        )}
      </Section>
      <Section
        title="Access"
        hint="What the repository is read with. Without any, a token of the organization for its host is used."
      >
        <AccessFields {...source} />
      </Section>
    </>
  );
}

export function PolicyForm(props: PolicyFormProps) {
  const { values, errors, onChange, onSubmit } = props;
  const known = usePolicySchema(values);
  useWrongField(errors);
  return (
    <PageForm {...props} onSubmit={() => onSubmit(policyErrors(values, known.schema))}>
      <Section title="Name">
        <Wide>
          <NameField
            description="Unique among the approval policies of the organization"
            maxLength={300}
            value={values.name}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
            error={errors.name}
          />
        </Wide>
        <Wide>
          <Segments
            label="Where the policy is"
            data={origins}
            value={values.origin}
            onChange={(origin) => onChange({ origin })}
          />
        </Wide>
      </Section>
      {values.origin === 'catalogue' ? (
        <CatalogueFields {...props} />
      ) : (
        <RepositoryFields {...props} unread={known.error} />
      )}
      {(values.origin === 'repository' || known.schema !== undefined) && (
        <ConfigurationSection known={known} values={values} errors={errors} onChange={onChange} />
      )}
    </PageForm>
  );
}
