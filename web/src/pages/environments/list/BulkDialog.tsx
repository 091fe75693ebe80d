/** Shows which of the selected environments an action applies to before it starts, and the result of each afterwards. */
import { Button, Group, Modal, Progress, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { BulkItem } from '#contract/bulk-operations/shapes.ts';
import { planText } from '#contract/deployments/plan-counts.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { type StatusLook, StatusShape } from '../../../design/status.tsx';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { type BulkOutcome, type BulkProgress, progressText } from './bulk-progress.ts';
import { type BulkAction, type BulkLook, bulkLooks } from './fitting.ts';
import classes from './list.module.css';
import { type BulkChoice, useBulkRun, useFitting } from './use-bulk.ts';

const looks: Readonly<Record<BulkOutcome | 'unfit', StatusLook>> = {
  fits: { word: 'Fits', tone: 'idle', shape: 'hollow' },
  unfit: { word: 'Left out', tone: 'idle', shape: 'bar' },
  pending: { word: 'Waits', tone: 'idle', shape: 'dotted' },
  success: { word: 'Done', tone: 'ok', shape: 'check' },
  failed: { word: 'Failed', tone: 'fail', shape: 'cross' },
  notSent: { word: 'Not sent', tone: 'fail', shape: 'bar' },
  unknown: { word: 'Unknown', tone: 'wait', shape: 'dotted' },
};

interface ResultProps {
  readonly outcome: BulkOutcome;
  readonly result: BulkItem | undefined;
  readonly look: BulkLook;
}

function Result({ outcome, result, look }: ResultProps) {
  const { error, deploymentId } = result ?? {};
  if (outcome !== 'success') {
    return (
      <span>
        <bdi>{error ?? looks[outcome].word}</bdi>
      </span>
    );
  }
  if (deploymentId === undefined) return <span>{look.done}</span>;
  return (
    <span>
      {look.done}:{' '}
      <Link to="/deployments/$deploymentId" params={{ deploymentId }}>
        its deployment
      </Link>
    </span>
  );
}

interface BulkItemProps {
  readonly item: BulkChoice;
  readonly action: BulkAction;
  readonly progress: BulkProgress;
}

function Item({ item: { environment, unfit }, action, progress }: BulkItemProps) {
  const { planSummary, isPlanEmpty } = environment.latestDeploymentLog;
  const outcome = unfit === undefined ? progress.outcomeOf(environment.id) : 'unfit';
  return (
    <li>
      <StatusShape look={looks[outcome]} />
      <bdi>{environment.name}</bdi>
      {outcome === 'unfit' ? (
        <span>Left out: {unfit}</span>
      ) : outcome === 'fits' ? (
        action === 'approve' && planSummary && <span>{planText({ planSummary, isPlanEmpty })}</span>
      ) : (
        <Result outcome={outcome} result={progress.results.get(environment.id)} look={bulkLooks[action]} />
      )}
    </li>
  );
}

function countText(count: number): string {
  return count === 1 ? '1 environment' : `${count} environments`;
}

/** Progress and results, in numbers. @param outcomes of the environments that were to be sent */
function Summary({ outcomes }: { readonly outcomes: readonly BulkOutcome[] }) {
  const left = outcomes.filter((outcome) => outcome !== 'success' && outcome !== 'failed').length;
  const isTroubled = outcomes.some((outcome) => ['failed', 'notSent', 'unknown'].includes(outcome));
  return (
    <>
      <Progress
        value={Math.round((100 * (outcomes.length - left)) / outcomes.length)}
        aria-label="Progress"
        color={isTroubled ? 'var(--e-fail)' : 'var(--e-ok)'}
      />
      <p role="status" className={classes.summary}>
        {progressText(outcomes)}
      </p>
    </>
  );
}

interface BulkQuestionProps {
  readonly action: BulkAction;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly typed: string;
  readonly onTyped: (text: string) => void;
}

/** Optional text, and the confirmation. */
function Question({ action, text, onText, typed, onTyped }: BulkQuestionProps) {
  const label = bulkLooks[action].text;
  return (
    <>
      {label !== undefined && (
        <TextInput label={label} value={text} onChange={(event) => onText(event.currentTarget.value)} />
      )}
      {action === 'destroy' && (
        <TextInput
          mt="sm"
          label="Type destroy to confirm"
          value={typed}
          autoComplete="off"
          onChange={(event) => onTyped(event.currentTarget.value)}
        />
      )}
    </>
  );
}

interface ReportProps {
  readonly items: readonly BulkChoice[];
  readonly action: BulkAction;
  readonly progress: BulkProgress;
  readonly isSent: boolean;
}

/** Each of them: those that are left out come first. */
function Report({ items, action, progress, isSent }: ReportProps) {
  const fitting = items.filter(({ unfit }) => unfit === undefined);
  const left = items.length - fitting.length;
  return (
    <>
      {isSent ? (
        <Summary outcomes={fitting.map(({ environment }) => progress.outcomeOf(environment.id))} />
      ) : (
        <p role="status" className={classes.summary}>
          {left === 0 ? 'All selected environments qualify.' : `${countText(left)} left out:`}
        </p>
      )}
      <ul className={classes.report}>
        {items
          .toSorted((a, b) => Number(b.unfit !== undefined) - Number(a.unfit !== undefined))
          .map((item) => (
            <Item key={item.environment.id} item={item} action={action} progress={progress} />
          ))}
      </ul>
    </>
  );
}

export interface BulkDialogProps {
  readonly organizationId: string;
  readonly action: BulkAction;
  readonly environments: readonly Environment[];
  readonly onClose: () => void;
}

export default function BulkDialog({ organizationId, action, environments, onClose }: BulkDialogProps) {
  const [chosen] = useState(environments);
  const [text, setText] = useState('');
  const [typed, setTyped] = useState('');
  const { isKnown, items } = useFitting(organizationId, action, chosen);
  const { send, progress } = useBulkRun(action, organizationId);
  const [sent, setSent] = useState<readonly BulkChoice[]>();
  const shown = sent ?? items;
  const fitting = shown.filter(({ unfit }) => unfit === undefined);
  const isReady = isKnown && fitting.length > 0 && (action !== 'destroy' || typed === 'destroy');
  const start = () => {
    setSent(items);
    send.mutate({ environments: fitting.map(({ environment }) => environment), text: text.trim() });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${bulkLooks[action].verb}: ${countText(fitting.length)}`}
      size="lg"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && sent === undefined) start();
        }}
      >
        <FormAlert mb="md" error={send.error} />
        <FormAlert mb="md" error={progress.error} />
        <Report items={shown} action={action} progress={progress} isSent={sent !== undefined} />
        {sent === undefined && (
          <Question action={action} text={text} onText={setText} typed={typed} onTyped={setTyped} />
        )}
        {progress.isPartlySent && (
          <p className={classes.summary}>Keep this page open until all of them are sent.</p>
        )}
        {progress.isContinuing && (
          <p className={classes.summary}>The service continues when you close this.</p>
        )}
        <Group mt="md" justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {sent === undefined ? 'Cancel' : 'Close'}
          </Button>
          {sent === undefined && (
            <Button type="submit" disabled={!isReady} {...(action === 'destroy' ? { color: 'red' } : {})}>
              {`${bulkLooks[action].verb} ${countText(fitting.length)}`}
            </Button>
          )}
        </Group>
      </form>
    </Modal>
  );
}
