/** Changes a template that others may change at the same time. */
import { useState } from 'react';
import type { Template } from '#contract/templates/shapes.ts';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { showDone } from '../../api/messages.ts';
import { type Refetch, type Tagged, useChange } from '../../api/queries.ts';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { useEditing } from '../../forms/use-editing.ts';
import { useQuestionBeforeLeaving } from '../../forms/use-question-before-leaving.ts';
import { TemplateForm } from './TemplateForm.tsx';
import {
  type TemplateErrors,
  templateBody,
  templateErrors,
  templateField,
  valuesOf,
} from './template-values.ts';

export interface EditTemplateProps {
  readonly read: Tagged<Template>;
  readonly refetch: Refetch;
  readonly whyNot: string | undefined;
  readonly onDone: () => void;
}

export function EditTemplate({ read, refetch, whyNot, onDone }: EditTemplateProps) {
  const editing = useEditing(read, valuesOf, refetch);
  const [errors, setErrors] = useState<TemplateErrors>({});
  const [failure, setFailure] = useState<unknown>();
  const id = read.data.id ?? '';
  const save = useChange('updateTemplate', {
    refreshes: ['getTemplate', 'listTemplates', 'listVariablesFromRepository'],
    onSuccess: () => {
      showDone('Saved: environments use it from their next deployment on');
      onDone();
    },
    onError: (error) => {
      if (editing.onRefused(error)) return true;
      const field = templateField(fieldOf(error) ?? '');
      if (field !== undefined) setErrors({ [field]: fieldText(error) });
      setFailure(error);
      return true;
    },
  });
  useQuestionBeforeLeaving(editing.isTouched ? 'Leave without saving the changed template?' : undefined);
  return (
    <TemplateForm
      values={editing.values}
      errors={errors}
      onChange={(changes) => {
        setErrors({});
        editing.change(changes);
      }}
      onSubmit={() => {
        const wrong = templateErrors(editing.values);
        setErrors(wrong);
        setFailure(undefined);
        if (Object.keys(wrong).length > 0) return;
        save.mutate({
          params: { id },
          body: templateBody(editing.values, read.data),
          ...(editing.etag === undefined ? {} : { ifMatch: editing.etag }),
        });
      }}
      onCancel={onDone}
      isNew={false}
      isBusy={save.isPending}
      whyNot={whyNot}
      failure={failure}
      notice={editing.isOvertaken && <Overtaken what="this template" onReset={editing.reset} />}
    />
  );
}
