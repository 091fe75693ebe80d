/** The two answers to the question whether a new folder is one that is gone. */
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import type { Rights } from '../../../api/rights.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import classes from './discovery.module.css';

export interface RenameDecisionProps {
  readonly projectId: string;
  readonly folder: string;
  readonly rights: Rights;
}

export function RenameDecision({ projectId, folder, rights }: RenameDecisionProps) {
  const decide = useChange('resolveDiscoveryRename', {
    refreshes: ['getDiscoveryState', 'listDiscoveryScans', 'listEnvironments'],
    onSuccess: (_, { body }) =>
      showDone(
        body.isSame ? `The environment follows to ${folder}` : `${folder} becomes another environment`,
      ),
  });
  const answer = (isSame: boolean) => decide.mutate({ params: { projectId }, body: { folder, isSame } });
  const whyNot = rights.whyNot('EDIT_PROJECT_SETTINGS');
  return (
    <div className={classes.decision} role="group" aria-label={`Decide about ${folder}`}>
      <ActionButton
        size="compact-sm"
        whyNot={whyNot ?? rights.whyNot('EDIT_VCS_ENVIRONMENT')}
        loading={decide.isPending && decide.variables.body.isSame}
        onClick={() => answer(true)}
      >
        The same environment: keep its state
      </ActionButton>
      <ActionButton
        size="compact-sm"
        variant="default"
        whyNot={whyNot}
        loading={decide.isPending && !decide.variables.body.isSame}
        onClick={() => answer(false)}
      >
        Another environment
      </ActionButton>
    </div>
  );
}
