/** The buttons of a deployment: what the person may decide now, each with its own question. */
import { type EnvironmentAction, environmentAccepts } from '#contract/life-cycle/life-cycle.ts';
import { useRights } from '../../../api/rights.ts';
import { useSession } from '../../../api/session.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { usePageKeys } from '../../../ui/page-keys.ts';
import { AgainDialog } from './AgainDialog.tsx';
import { ApproveDialog } from './ApproveDialog.tsx';
import { type Decision, decisionsOf, rightsOfDecisions, verbOf } from './actions.ts';
import { approverObstacle } from './approval-words.ts';
import { AbortDialog, RefuseDialog, ReleaseDialog } from './dialogs.tsx';
import type { DecisionProps } from './use-decisions.ts';

const looks = {
  approve: { variant: 'filled' },
  cancel: { variant: 'default' },
  abort: { variant: 'outline', color: 'red' },
  release: { variant: 'outline', color: 'red' },
  again: { variant: 'default' },
} as const satisfies Readonly<Record<Decision, object>>;

/** Obstacle to a decision although the person has the right. */
function obstacle(
  decision: Decision,
  { deployment, environment, plan }: Pick<DecisionProps, 'deployment' | 'environment' | 'plan'>,
  userId: string | undefined,
): string | undefined {
  const { type, waitingFor, planHash } = deployment;
  if (decision === 'approve') {
    // The event that a deployment waits comes before the plan that it waits with.
    if (planHash === undefined || plan === undefined) return 'Loading the plan.';
    const obstacle = approverObstacle(waitingFor, userId);
    if (obstacle !== undefined) return obstacle;
  }
  if (environment === undefined || (decision !== 'approve' && decision !== 'again')) return undefined;
  if (environment.isLocked) return 'The environment is locked. Unlock it first.';
  if (decision === 'approve') return undefined;
  const facts = { ...environment, isArchived: environment.isArchived ?? false };
  if (environmentAccepts(facts, type === 'dryRun' ? 'plan' : (type as EnvironmentAction))) return undefined;
  return type === 'destroy'
    ? 'There is nothing left to destroy.'
    : 'The environment does not accept this in its status.';
}

const dialogs = {
  approve: ApproveDialog,
  cancel: RefuseDialog,
  abort: AbortDialog,
  release: ReleaseDialog,
  again: AgainDialog,
} as const;

export function DecisionButtons(props: DecisionProps) {
  const { deployment, decisions } = props;
  const { me } = useSession();
  const rights = useRights({ environmentId: deployment.environmentId });
  const possible = decisionsOf(deployment);
  const whyNot = (decision: Decision) =>
    rights.whyNot(rightsOfDecisions[decision]) ?? obstacle(decision, props, me.user.user_id);
  const ask = (decision: Decision) => () => {
    if (possible.includes(decision) && whyNot(decision) === undefined) decisions.ask(decision);
  };
  usePageKeys([
    ['a', ask('approve')],
    ['r', ask('cancel')],
  ]);
  const { openDecision } = decisions;
  const Dialog = openDecision === undefined ? undefined : dialogs[openDecision];
  return (
    <>
      {possible.map((decision) => (
        <ActionButton
          key={decision}
          size="xs"
          {...looks[decision]}
          whyNot={whyNot(decision)}
          onClick={ask(decision)}
        >
          {verbOf(decision, deployment)}
        </ActionButton>
      ))}
      {Dialog !== undefined && <Dialog {...props} />}
    </>
  );
}
