/** Creates an environment in four steps; what is typed stays until it is there. */
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { errorText } from '../../api/errors.ts';
import { useSession } from '../../api/session.ts';
import { intoView } from '../../forms/problems.ts';
import { FormFoot } from '../../forms/Section.tsx';
import { changesOf } from '../../forms/variables/rows.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Page } from '../../ui/Page.tsx';
import { CodeStep } from './new/CodeStep.tsx';
import { isTouched, keptDraft } from './new/draft.ts';
import { environmentCall } from './new/environment-calls.ts';
import classes from './new/new.module.css';
import { PreviewStep } from './new/PreviewStep.tsx';
import { SettingsStep } from './new/SettingsStep.tsx';
import { type NewEnvironmentForm, stepNames, useNewEnvironment } from './new/use-new-environment.ts';
import { VariablesStep } from './new/VariablesStep.tsx';

function Steps({ step, goTo }: NewEnvironmentForm) {
  return (
    <nav aria-label="Steps">
      <ol className={classes.steps}>
        {stepNames.map((name, at) => (
          <li key={name}>
            <button type="button" aria-current={at === step ? 'step' : undefined} onClick={() => goTo(at)}>
              {name}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Why the person cannot create it, as far as that is known. */
function whyNotCreate({ draft, rights }: NewEnvironmentForm): string | undefined {
  if (draft.projectId === '') return undefined;
  return (
    rights.whyNot(draft.from === 'template' ? 'RUN_PLAN' : 'CREATE_VCS_ENVIRONMENT') ??
    (draft.requiresApproval === false ? rights.whyNot('RUN_APPLY') : undefined)
  );
}

function Failure({ error }: { readonly error: unknown }) {
  const { title, text, remedy, requestId } = errorText(error);
  return (
    <Alert ref={intoView} color="red" role="alert" title={title} mb="md">
      <p className={classes.plain}>{text}</p>
      {remedy !== undefined && <p className={classes.plain}>{remedy}</p>}
      {requestId !== undefined && (
        <p className={classes.plain}>
          Request <code>{requestId}</code>
        </p>
      )}
    </Alert>
  );
}

const views = [CodeStep, SettingsStep, VariablesStep, PreviewStep] as const;

function Foot(state: NewEnvironmentForm) {
  const { step, goTo, create, isBusy, startOver, draft } = state;
  const isLast = step === views.length - 1;
  return (
    <FormFoot>
      {step > 0 && (
        <Button variant="default" onClick={() => goTo(step - 1)}>
          Back
        </Button>
      )}
      {isLast ? (
        <ActionButton whyNot={whyNotCreate(state)} onClick={create} loading={isBusy}>
          {draft.isDeployed ? 'Create and deploy' : 'Create'}
        </ActionButton>
      ) : (
        <Button type="submit" loading={isBusy}>
          Next: {stepNames[step + 1]}
        </Button>
      )}
      <span className="spacer" />
      {isTouched(draft) && (
        <Button variant="subtle" onClick={startOver}>
          Start over
        </Button>
      )}
    </FormFoot>
  );
}

export function NewEnvironmentPage() {
  const { organizationId } = useSession();
  const [isContinued] = useState(() => {
    const kept = keptDraft();
    return kept !== null && isTouched(kept);
  });
  const state = useNewEnvironment();
  const View = views[state.step]!;
  return (
    <Page
      title="New environment"
      crumbs={[{ label: 'Environments', to: '/environments' }]}
      calls={[environmentCall(state.draft, state.type, organizationId, changesOf(state.rows))]}
    >
      <Steps {...state} />
      {isContinued && state.step === 0 && isTouched(state.draft) && (
        <p className={classes.note} role="status">
          This continues what you typed before. Values of sensitive variables were not kept.
        </p>
      )}
      {state.failure !== undefined && <Failure error={state.failure} />}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (state.step < views.length - 1) state.goTo(state.step + 1);
        }}
      >
        <View {...state} />
        <Foot {...state} />
      </form>
    </Page>
  );
}
