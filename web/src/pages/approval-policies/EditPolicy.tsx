/** Changes an approval policy. */
import { useState } from 'react';
import type { ApprovalPolicy } from '#contract/flows/shapes.ts';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { useChange } from '../../api/queries.ts';
import { useQuestionBeforeLeaving } from '../../forms/use-question-before-leaving.ts';
import { showDone } from '../../ui/messages.ts';
import { policyBody, type PolicyErrors, policyField, policyValues } from './policy-values.ts';
import { PolicyForm } from './PolicyForm.tsx';

export interface EditPolicyProps {
  readonly policy: ApprovalPolicy;
  readonly whyNot: string | undefined;
  readonly onDone: () => void;
}

export function EditPolicy({ policy, whyNot, onDone }: EditPolicyProps) {
  const [before] = useState(() => policyValues(policy));
  const [values, setValues] = useState(before);
  const [errors, setErrors] = useState<PolicyErrors>({});
  const [failure, setFailure] = useState<unknown>();
  const save = useChange('updateApprovalPolicy', {
    refreshes: ['listApprovalPolicies'],
    onSuccess: () => {
      showDone('Saved: the next plans are checked by it');
      onDone();
    },
    onError: (error) => {
      const field = policyField(fieldOf(error) ?? '', values);
      if (field !== undefined) setErrors({ [field]: fieldText(error) });
      setFailure(error);
      return true;
    },
  });
  useQuestionBeforeLeaving(values === before ? undefined : 'Leave without saving the changed policy?');
  return (
    <PolicyForm
      values={values}
      errors={errors}
      onChange={(changes) => {
        setErrors({});
        setValues({ ...values, ...changes });
      }}
      onSubmit={(wrong) => {
        setErrors(wrong);
        setFailure(undefined);
        if (Object.keys(wrong).length > 0) return;
        save.mutate({ body: { ...policyBody(values, policy), id: policy.id } });
      }}
      onCancel={onDone}
      verb="Save"
      isBusy={save.isPending}
      whyNot={whyNot}
      failure={failure}
    />
  );
}
