/** The form of a template, for new ones and for changes. */
import { Switch, TextInput } from '@mantine/core';
import { creatableTemplateTypes } from '#contract/schema/template-types.ts';
import { DescriptionInput, NameInput } from '../../forms/NameFields.tsx';
import type { PageFormProps } from '../../forms/PageForm.tsx';
import { PageForm } from '../../forms/PageForm.tsx';
import { ProjectSelect, ProjectsSelect } from '../../forms/ProjectSelect.tsx';
import { useWrongField } from '../../forms/problems.ts';
import { Section, Wide } from '../../forms/Section.tsx';
import { RetrySection } from '../../forms/source/RetrySection.tsx';
import { SourceFields } from '../../forms/source/SourceFields.tsx';
import { sourceErrorsOf } from '../../forms/source/source-values.ts';
import type { TemplateErrors, TemplateValues } from './template-values.ts';

export interface TemplateFormProps extends Omit<PageFormProps, 'verb' | 'children'> {
  readonly values: TemplateValues;
  readonly errors: TemplateErrors;
  readonly onChange: (changes: Partial<TemplateValues>) => void;
  readonly isNew: boolean;
}

type TemplateFieldsProps = Pick<TemplateFormProps, 'values' | 'errors' | 'onChange'>;

function ProjectFields({
  values,
  errors,
  onChange,
  isNew,
}: TemplateFieldsProps & { readonly isNew: boolean }) {
  return (
    <Section title="Projects" hint="Environments are created from a template only in these projects.">
      {isNew && (
        <Wide>
          <ProjectSelect
            label="Belongs to"
            description="A project, which may then use it at once; empty: the organization. It stays there."
            placeholder="The organization"
            clearable
            value={values.homeId}
            onChange={(homeId) => onChange({ homeId })}
            error={errors.homeId}
          />
        </Wide>
      )}
      <Wide>
        <ProjectsSelect
          label="Can use it"
          value={values.projectIds}
          onChange={(projectIds) => onChange({ projectIds })}
          error={errors.projectIds}
        />
      </Wide>
    </Section>
  );
}

function OtherFields({ values, errors, onChange }: TemplateFieldsProps) {
  return (
    <Section title="Others" hint="Stored for clients that know them; they have no effect yet.">
      <TextInput
        label="Prefix of tags"
        value={values.tagPrefix}
        onChange={(event) => onChange({ tagPrefix: event.currentTarget.value })}
        error={errors.tagPrefix}
      />
      <Wide>
        <Switch
          label="Run tests on pull requests"
          checked={values.runTestsOnPullRequest}
          onChange={(event) => onChange({ runTestsOnPullRequest: event.currentTarget.checked })}
        />
      </Wide>
    </Section>
  );
}

export function TemplateForm({ isNew, ...props }: TemplateFormProps) {
  const { values, errors, onChange } = props;
  useWrongField(errors);
  return (
    <PageForm {...props} verb={isNew ? 'Create the template' : 'Save'}>
      <Section title="Name">
        <Wide>
          <NameInput description="Unique in the organization" {...{ values, errors, onChange }} />
        </Wide>
        <Wide>
          <DescriptionInput {...{ values, errors, onChange }} />
        </Wide>
      </Section>
      <SourceFields
        values={values.source}
        errors={sourceErrorsOf(errors)}
        onChange={(changes) => onChange({ source: { ...values.source, ...changes } })}
        projectId={values.homeId || (values.projectIds[0] ?? '')}
        types={creatableTemplateTypes}
      />
      <ProjectFields {...props} isNew={isNew} />
      <RetrySection {...{ values, errors, onChange }} />
      <OtherFields {...props} />
    </PageForm>
  );
}
