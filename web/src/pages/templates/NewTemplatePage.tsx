/** Creates a template. */
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { showDone } from '../../api/messages.ts';
import { useChange } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useQuestionBeforeLeaving } from '../../forms/use-question-before-leaving.ts';
import { callOf } from '../../ui/calls.ts';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TemplateForm } from './TemplateForm.tsx';
import {
  emptyTemplate,
  type TemplateErrors,
  templateBody,
  templateErrors,
  templateField,
} from './template-values.ts';
import { templateCommand } from './template-words.ts';

export function NewTemplatePage() {
  const { organizationId } = useSession();
  const [{ project }] = useSearchState();
  const navigate = useNavigate();
  const [before] = useState({ ...emptyTemplate, projectIds: project ? [project] : [] });
  const [values, setValues] = useState(before);
  const isSaved = useRef(false);
  useQuestionBeforeLeaving(values === before ? undefined : 'Leave without creating the template?', isSaved);
  const [errors, setErrors] = useState<TemplateErrors>({});
  const [failure, setFailure] = useState<unknown>();
  const rights = useRights(values.homeId === '' ? { organizationId } : { projectId: values.homeId });
  const create = useChange('createTemplate', {
    refreshes: ['listTemplates'],
    onSuccess: ({ id = '', name }) => {
      isSaved.current = true;
      showDone(`Template ${name} was created`);
      void navigate({
        to: '/templates/$templateId',
        params: { templateId: id },
        search: { tab: 'variables' },
      });
    },
    onError: (error) => {
      const field = templateField(fieldOf(error) ?? '');
      if (field !== undefined) setErrors({ [field]: fieldText(error) });
      setFailure(error);
      return true;
    },
  });
  const body = { ...templateBody(values), organizationId };
  return (
    <Page
      title="New template"
      crumbs={[{ label: 'Templates', to: '/templates' }]}
      calls={[callOf('Create this template', 'createTemplate', { body }, templateCommand(values))]}
    >
      <TemplateForm
        values={values}
        errors={errors}
        onChange={(changes) => {
          setErrors({});
          setValues({ ...values, ...changes, projectIds: [...(changes.projectIds ?? values.projectIds)] });
        }}
        onSubmit={() => {
          const wrong = templateErrors(values);
          setErrors(wrong);
          setFailure(undefined);
          if (Object.keys(wrong).length === 0) create.mutate({ body });
        }}
        onCancel={() => void navigate({ to: '/templates' })}
        isNew
        isBusy={create.isPending}
        whyNot={rights.whyNot('CREATE_AND_EDIT_TEMPLATES')}
        failure={failure}
      />
    </Page>
  );
}
