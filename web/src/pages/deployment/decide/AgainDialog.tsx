/** Asks how to do the same once more. */
import { Checkbox, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { DeploymentReply } from '../facts/reads.ts';
import { verbOf } from './actions.ts';
import { Question } from './Question.tsx';
import type { DecisionProps } from './use-decisions.ts';

const whatHappens: Readonly<Partial<Record<DeploymentType, string>>> = {
  deploy: 'It plans with the current code and variables.',
  destroy: 'It plans the destruction of everything in the environment again.',
  driftDetection: 'It checks whether the resources still match the code. Nothing is changed.',
  dryRun: 'It plans with the current code and variables. Nothing is applied.',
};

/** Resources that a new deployment can import by itself. */
function importableOf({ unrecordedResources = [] }: Pick<DeploymentReply, 'unrecordedResources'>): number {
  return unrecordedResources.filter(({ certainty, id }) => certainty === 'created' && id !== undefined)
    .length;
}

export function AgainDialog({ deployment, environment, decisions }: DecisionProps) {
  const { type, targets } = deployment;
  const isDestroy = type === 'destroy';
  const importable = type === 'deploy' || type === 'dryRun' ? importableOf(deployment) : 0;
  const [comment, setComment] = useState('');
  // As it was when the dialog was opened: what another user changes since then is not undone.
  const [askedBefore] = useState(environment?.requiresApproval ?? false);
  const [asks, setAsks] = useState(askedBefore);
  const [imports, setImports] = useState(true);
  const send = () => {
    if (isDestroy) return decisions.destroy();
    return decisions.deploy({
      deploymentType: type as 'deploy' | 'driftDetection' | 'dryRun',
      ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
      ...(targets === undefined ? {} : { targets }),
      ...(type === 'deploy' && asks !== askedBefore ? { userRequiresApproval: asks } : {}),
      ...(importable > 0 && imports ? { importUnrecorded: true } : {}),
    });
  };
  const verb = verbOf('again', deployment);
  return (
    <Question
      title={`${verb}?`}
      no="Not now"
      verb={verb}
      isDanger={isDestroy}
      decisions={decisions}
      onConfirm={send}
    >
      <p>{whatHappens[type]}</p>
      {type === 'deploy' && (
        <Checkbox
          mt="sm"
          label="Wait for approval before the plan is applied"
          description="This also applies to later deployments of the environment."
          checked={asks}
          onChange={(event) => setAsks(event.currentTarget.checked)}
        />
      )}
      {importable > 0 && (
        <Checkbox
          mt="sm"
          label={`Import ${importable === 1 ? 'the resource' : `the ${importable} resources`} that no state has`}
          checked={imports}
          onChange={(event) => setImports(event.currentTarget.checked)}
        />
      )}
      {!isDestroy && (
        <Textarea
          mt="sm"
          label="Comment"
          autosize
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      )}
    </Question>
  );
}
