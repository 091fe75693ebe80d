/** The form of environment discovery, with a preview of what a scan would do. */
import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Discovery, DiscoveryPreview } from '#contract/discovery/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { type Refetch, type Tagged, useChange } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { Overtaken } from '../../../forms/Overtaken.tsx';
import { useWrongField } from '../../../forms/problems.ts';
import { FormFoot } from '../../../forms/Section.tsx';
import { useEditing } from '../../../forms/use-editing.ts';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { DiscoveryFields } from './DiscoveryFields.tsx';
import {
  type DiscoveryErrors,
  type DiscoveryValues,
  discoveryBody,
  discoveryErrors,
  discoveryField,
} from './discovery-values.ts';
import { PreviewPanel } from './PreviewPanel.tsx';

export const discoveryReads = ['getDiscovery', 'getDiscoveryState', 'listDiscoveryScans'] as const;

interface Shown {
  readonly preview: DiscoveryPreview;
  /** The settings that were previewed, as JSON. */
  readonly settings: string;
}

/** Refusals of both requests, at their fields or above the form. */
function useProblems() {
  const [errors, setErrors] = useState<DiscoveryErrors>({});
  const [failure, setFailure] = useState<unknown>();
  useWrongField(errors);
  return {
    errors,
    failure,
    forget: () => {
      setErrors({});
      setFailure(undefined);
    },
    /** @returns whether the values can be sent */
    check: (values: DiscoveryValues) => {
      const wrong = discoveryErrors(values);
      setErrors(wrong);
      setFailure(undefined);
      return Object.keys(wrong).length === 0;
    },
    onRefused: (error: unknown): true => {
      const field = discoveryField(fieldOf(error) ?? '');
      if (field === undefined) setFailure(error);
      else setErrors({ [field]: fieldText(error) });
      return true;
    },
  };
}

export interface DiscoveryFormProps {
  readonly project: Project;
  /** Data is undefined for the first configuration. */
  readonly read: Tagged<Discovery | undefined>;
  readonly refetch: Refetch;
  readonly valuesOf: (discovery: Discovery | undefined) => DiscoveryValues;
  readonly onDone: () => void;
}

function useDiscoveryForm({ project, read, refetch, valuesOf, onDone }: DiscoveryFormProps) {
  const editing = useEditing(read, valuesOf, refetch);
  const problems = useProblems();
  const [shown, setShown] = useState<Shown>();
  const { values, etag } = editing;
  const request = () => ({
    params: { projectId: project.id },
    body: discoveryBody(values, read.data),
  });
  const preview = useChange('previewDiscovery', {
    refreshes: [],
    onSuccess: (reply, { body }) => setShown({ preview: reply, settings: JSON.stringify(body) }),
    onError: problems.onRefused,
  });
  const save = useChange('setDiscovery', {
    refreshes: discoveryReads,
    onSuccess: () => {
      showDone('Saved: the repository is scanned now');
      onDone();
    },
    onError: (error) => editing.onRefused(error) || problems.onRefused(error),
  });
  return {
    ...{ editing, problems, shown },
    isPreviewed: shown?.settings === JSON.stringify(request().body),
    isBusy: { preview: preview.isPending, save: save.isPending },
    preview: () => problems.check(values) && preview.mutate(request()),
    save: () =>
      problems.check(values) &&
      save.mutate({ ...request(), ...(etag === undefined ? {} : { ifMatch: etag }) }),
  };
}

export function DiscoveryForm(props: DiscoveryFormProps): ReactNode {
  const { project, onDone } = props;
  const { editing, problems, shown, isPreviewed, isBusy, preview, save } = useDiscoveryForm(props);
  const rights = useRights({ projectId: project.id });
  const whyNot = rights.whyNot('EDIT_PROJECT_SETTINGS') ?? rights.whyNot('CREATE_VCS_ENVIRONMENT');
  const { values } = editing;
  useQuestionBeforeLeaving(editing.isTouched ? 'Leave without saving the discovery settings?' : undefined);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {editing.isOvertaken && <Overtaken what="this configuration" onReset={editing.reset} />}
      <FormAlert mb="md" error={problems.failure} />
      <DiscoveryFields
        projectId={project.id}
        values={values}
        errors={problems.errors}
        onChange={(changes) => {
          problems.forget();
          editing.change(changes);
        }}
      />
      {shown && <PreviewPanel projectId={project.id} preview={shown.preview} isOutdated={!isPreviewed} />}
      <FormFoot>
        <ActionButton
          variant={isPreviewed ? 'default' : 'filled'}
          whyNot={whyNot}
          loading={isBusy.preview}
          onClick={preview}
        >
          Preview
        </ActionButton>
        <ActionButton
          type="submit"
          variant={isPreviewed ? 'filled' : 'default'}
          whyNot={whyNot}
          loading={isBusy.save}
        >
          Save and scan
        </ActionButton>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </FormFoot>
    </form>
  );
}
