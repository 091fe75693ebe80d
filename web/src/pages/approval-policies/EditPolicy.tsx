/** Changes an approval policy that others may change at the same time. */
import { useState } from 'react';
import type { ApprovalPolicy } from '#contract/custom-flows/shapes.ts';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { showDone } from '../../api/messages.ts';
import { type Refetch, type Tagged, useChange, useTagged } from '../../api/queries.ts';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { useEditing } from '../../forms/use-editing.ts';
import { useQuestionBeforeLeaving } from '../../forms/use-question-before-leaving.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { PolicyForm } from './PolicyForm.tsx';
import { type PolicyErrors, policyBody, policyField, policyValues } from './policy-values.ts';

export interface EditPolicyProps {
  readonly policyId: string;
  readonly whyNot: string | undefined;
  readonly onDone: () => void;
}

interface EditorProps extends EditPolicyProps {
  readonly read: Tagged<ApprovalPolicy>;
  readonly refetch: Refetch;
}

function Editor({ policyId, read, refetch, whyNot, onDone }: EditorProps) {
  const editing = useEditing(read, policyValues, refetch);
  const [errors, setErrors] = useState<PolicyErrors>({});
  const [failure, setFailure] = useState<unknown>();
  const save = useChange('updateApprovalPolicy', {
    refreshes: ['listApprovalPolicies', 'getTemplate'],
    onSuccess: () => {
      showDone('Saved: the next plans are checked by it');
      onDone();
    },
    onError: (error) => {
      if (editing.onRefused(error)) return true;
      const field = policyField(fieldOf(error) ?? '', editing.values);
      if (field !== undefined) setErrors({ [field]: fieldText(error) });
      setFailure(error);
      return true;
    },
  });
  useQuestionBeforeLeaving(editing.isTouched ? 'Leave without saving the changed policy?' : undefined);
  return (
    <PolicyForm
      values={editing.values}
      errors={errors}
      onChange={(changes) => {
        setErrors({});
        editing.change(changes);
      }}
      onSubmit={(wrong) => {
        setErrors(wrong);
        setFailure(undefined);
        if (Object.keys(wrong).length > 0) return;
        save.mutate({
          body: { ...policyBody(editing.values, read.data), id: policyId },
          ...(editing.etag === undefined ? {} : { ifMatch: editing.etag }),
        });
      }}
      onCancel={onDone}
      verb="Save"
      isBusy={save.isPending}
      whyNot={whyNot}
      failure={failure}
      notice={editing.isOvertaken && <Overtaken what="this policy" onReset={editing.reset} />}
    />
  );
}

export function EditPolicy(props: EditPolicyProps) {
  const policy = useTagged('getTemplate', { params: { id: props.policyId } });
  return (
    <Loaded query={policy}>
      {({ data, etag }) => (
        <Editor {...props} read={{ data: data as ApprovalPolicy, etag }} refetch={policy.refetch} />
      )}
    </Loaded>
  );
}
