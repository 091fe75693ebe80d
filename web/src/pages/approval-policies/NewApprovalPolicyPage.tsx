/** Creates an approval policy, from the catalogue or from a repository. */
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useQuestionBeforeLeaving } from '../../forms/use-question-before-leaving.ts';
import { callOf } from '../../ui/calls.ts';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { PolicyForm } from './PolicyForm.tsx';
import {
  type ApprovalPolicyValues,
  emptyPolicy,
  type PolicyErrors,
  policyBody,
  policyField,
} from './policy-values.ts';

/** The words of the same command. */
function commandOf(
  { name, origin, folder, source }: ApprovalPolicyValues,
  configuration: object | undefined,
): string[] {
  const from =
    origin === 'catalogue'
      ? ['--catalogue', folder || '<folder>']
      : ['--repository', source.repository || '<address>', ...(source.path ? ['--path', source.path] : [])];
  const configured = configuration ? ['--configuration', JSON.stringify(configuration)] : [];
  return ['approval-policies', 'create', name || '<name>', ...from, ...configured];
}

/** Entered name, and that of the policy in the address until another one is typed. */
function useValues() {
  const [{ catalogue: folder = '' }] = useSearchState();
  const { data = [] } = useRead('listCataloguePolicies');
  const [typed, setTyped] = useState<Partial<ApprovalPolicyValues>>({});
  const name = data.find(({ path }) => path === folder)?.name ?? '';
  const values: ApprovalPolicyValues = { ...emptyPolicy, folder, name, ...typed };
  const isSaved = useRef(false);
  const isTouched = Object.keys(typed).length > 0;
  useQuestionBeforeLeaving(isTouched ? 'Leave without creating the policy?' : undefined, isSaved);
  return {
    values,
    isSaved,
    change: (changes: Partial<ApprovalPolicyValues>) => setTyped({ ...typed, ...changes }),
  };
}

export function NewApprovalPolicyPage() {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const { values, isSaved, change } = useValues();
  const [errors, setErrors] = useState<PolicyErrors>({});
  const [failure, setFailure] = useState<unknown>();
  const rights = useRights({ organizationId });
  const create = useChange('createApprovalPolicy', {
    refreshes: ['listApprovalPolicies'],
    onSuccess: ({ id, name }) => {
      isSaved.current = true;
      showDone(`${name} was created: assign it where it is to check plans`);
      void navigate({
        to: '/approval-policies/$policyId',
        params: { policyId: id },
        search: { tab: 'places' },
      });
    },
    onError: (error) => {
      const field = policyField(fieldOf(error) ?? '', values);
      if (field !== undefined) setErrors({ [field]: fieldText(error) });
      setFailure(error);
      return true;
    },
  });
  const body = { ...policyBody(values), organizationId };
  return (
    <Page
      title="New approval policy"
      crumbs={[{ label: 'Approval policies', to: '/approval-policies' }]}
      calls={[
        callOf(
          'Create this policy',
          'createApprovalPolicy',
          { body },
          commandOf(values, body.policyConfiguration),
        ),
      ]}
    >
      <PolicyForm
        values={values}
        errors={errors}
        onChange={(changes) => {
          setErrors({});
          change(changes);
        }}
        onSubmit={(wrong) => {
          setErrors(wrong);
          setFailure(undefined);
          if (Object.keys(wrong).length === 0) create.mutate({ body });
        }}
        onCancel={() => void navigate({ to: '/approval-policies' })}
        verb="Create the policy"
        isBusy={create.isPending}
        whyNot={rights.whyNot('CREATE_AND_EDIT_TEMPLATES')}
        failure={failure}
      />
    </Page>
  );
}
