/** The policy of a project: what new environments get, and what is allowed. */
import { useRef, useState } from 'react';
import type { Organization } from '#contract/organizations/shapes.ts';
import { settingsInForce } from '#contract/project-policies/policy-origins.ts';
import type { Policy } from '#contract/project-policies/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { fieldOf, fieldText } from '../../api/errors.ts';
import { showDone } from '../../api/messages.ts';
import { type Refetch, type Tagged, useChange, useRead, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { Overtaken } from '../../forms/Overtaken.tsx';
import { useWrongField } from '../../forms/problems.ts';
import { SaveButtons } from '../../forms/SaveRow.tsx';
import { FormFoot } from '../../forms/Section.tsx';
import { useEditing } from '../../forms/use-editing.ts';
import { useQuestionBeforeLeaving } from '../../forms/use-question-before-leaving.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { Drift, FlagSection, Lifetimes, Limits, Runs } from './PolicyFields.tsx';
import {
  creationFlags,
  destroyFlags,
  outputsFlag,
  policyBody,
  policyErrors,
  policyValues,
} from './policy-fields.ts';

interface FormProps {
  readonly project: Project;
  readonly read: Tagged<Policy>;
  readonly refetch: Refetch;
}

function usePolicyForm({ project, read, refetch }: FormProps) {
  const editing = useEditing(read, policyValues, refetch);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>();
  useWrongField(errors);
  const sent = useRef(editing.values);
  const save = useChange('updatePolicy', {
    refreshes: ['getPolicy', 'checkPolicyLimits'],
    onSuccess: () => {
      editing.saved(sent.current);
      showDone('The policy was saved');
    },
    onError: (error) => {
      if (editing.onRefused(error)) return true;
      const field = fieldOf(error);
      if (field === undefined) setFailure(error);
      else setErrors({ [field]: fieldText(error) });
      return true;
    },
  });
  const submit = () => {
    const wrong = policyErrors(editing.values);
    setErrors(wrong);
    setFailure(undefined);
    if (Object.keys(wrong).length > 0) return;
    sent.current = editing.values;
    save.mutate({
      body: policyBody(project.id, editing.values),
      ...(editing.etag === undefined ? {} : { ifMatch: editing.etag }),
    });
  };
  return { editing, errors, failure, isBusy: save.isPending, submit };
}

function PolicyForm({ organization, ...props }: FormProps & { readonly organization: Organization }) {
  const rights = useRights({ projectId: props.project.id });
  const { editing, errors, failure, isBusy, submit } = usePolicyForm(props);
  useQuestionBeforeLeaving(editing.isTouched ? 'Leave without saving the changed policy?' : undefined);
  const whyNot = rights.whyNot('EDIT_PROJECT_SETTINGS');
  const fields = {
    values: editing.values,
    settings: settingsInForce(props.read.data, organization),
    errors,
    isDisabled: whyNot !== undefined,
    onChange: editing.change,
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {editing.isOvertaken && <Overtaken what="this policy" onReset={editing.reset} />}
      <FormAlert mb="md" error={failure} />
      <Limits projectId={props.project.id} {...fields} />
      <Lifetimes {...fields} />
      <Runs {...fields} />
      <FlagSection title="Destroys" flags={destroyFlags} {...fields} />
      <FlagSection
        title="New environments"
        hint="Defaults for new environments. Existing ones are unchanged."
        flags={creationFlags}
        {...fields}
      />
      <Drift {...fields} />
      <FlagSection title="Outputs" flags={[outputsFlag]} {...fields} />
      <FormFoot>
        <SaveButtons {...{ isBusy, whyNot }} isTouched={editing.isTouched} onDiscard={editing.reset} />
      </FormFoot>
    </form>
  );
}

export default function PolicyTab({ project }: { readonly project: Project }) {
  const policy = useTagged('getPolicy', { query: { projectId: project.id } });
  const organization = useRead('getOrganization', { params: { id: project.organizationId } });
  return (
    <Loaded query={policy}>
      {(read) => (
        <Loaded query={organization}>
          {(organization) => (
            <PolicyForm project={project} read={read} refetch={policy.refetch} organization={organization} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
