/** Says which of the chosen environments an action fits before it starts, and what became of each after. */
import { Button, Group, Modal, Progress, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { BulkItem, BulkItemStatus } from '#contract/bulk-operations/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { type StatusLook, StatusShape } from '../../../design/status.tsx';
import { planText } from '#contract/deployments/plan-counts.ts';
import { type BulkAction, type BulkLook, bulkLooks } from './fitting.ts';
import classes from './list.module.css';
import { type Choice, type Results, useBulkRun, useFitting } from './use-bulk.ts';

const looks: Readonly<Record<BulkItemStatus | 'unfit' | 'fits', StatusLook>> = {
  fits: { word: 'Fits', tone: 'idle', shape: 'hollow' },
  unfit: { word: 'Left out', tone: 'idle', shape: 'bar' },
  pending: { word: 'Waits', tone: 'idle', shape: 'dotted' },
  success: { word: 'Done', tone: 'ok', shape: 'check' },
  failed: { word: 'Failed', tone: 'fail', shape: 'cross' },
};

function Outcome({ result, look }: { readonly result: BulkItem; readonly look: BulkLook }) {
  const { status, error, deploymentId } = result;
  if (status !== 'success') {
    return (
      <span>
        <bdi>{error ?? looks[status].word}</bdi>
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

interface ItemProps {
  readonly item: Choice;
  readonly action: BulkAction;
  readonly result: BulkItem | undefined;
}

function Item({ item: { environment, unfit }, action, result }: ItemProps) {
  const { planSummary, isPlanEmpty } = environment.latestDeploymentLog;
  const isFit = unfit === undefined;
  return (
    <li>
      <StatusShape look={looks[result?.status ?? (isFit ? 'fits' : 'unfit')]} />
      <bdi>{environment.name}</bdi>
      {result ? (
        <Outcome result={result} look={bulkLooks[action]} />
      ) : isFit ? (
        action === 'approve' && planSummary && <span>{planText({ planSummary, isPlanEmpty })}</span>
      ) : (
        <span>Left out: {unfit}</span>
      )}
    </li>
  );
}

function countText(count: number): string {
  return count === 1 ? '1 environment' : `${count} environments`;
}

/** How far it is, and what it did, in numbers. @param count of the environments that were sent */
function Summary({ results, count }: { readonly results: Results; readonly count: number }) {
  const countOf = (status: BulkItemStatus) =>
    [...results.values()].filter((result) => result.status === status).length;
  const [done, failed] = [countOf('success'), countOf('failed')];
  const left = count - done - failed;
  return (
    <>
      <Progress
        value={Math.round((100 * (done + failed)) / count)}
        aria-label="Progress"
        color={failed > 0 ? 'var(--e-fail)' : 'var(--e-ok)'}
      />
      <p role="status" className={classes.summary}>
        {[
          `${done} done`,
          ...(failed > 0 ? [`${failed} failed`] : []),
          ...(left > 0 ? [`${left} to go`] : []),
        ].join(', ')}
      </p>
    </>
  );
}

interface QuestionProps {
  readonly action: BulkAction;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly typed: string;
  readonly onTyped: (text: string) => void;
}

/** What people may add, and what makes sure that they mean it. */
function Question({ action, text, onText, typed, onTyped }: QuestionProps) {
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
  readonly items: readonly Choice[];
  readonly action: BulkAction;
  readonly results: Results;
  readonly isSent: boolean;
}

/** Each of them: those that are left out come first. */
function Report({ items, action, results, isSent }: ReportProps) {
  const left = items.filter(({ unfit }) => unfit !== undefined).length;
  return (
    <>
      {isSent ? (
        <Summary results={results} count={items.length - left} />
      ) : (
        <p role="status" className={classes.summary}>
          {left === 0 ? 'All that you have chosen fit.' : `${countText(left)} left out:`}
        </p>
      )}
      <ul className={classes.report}>
        {items
          .toSorted((a, b) => Number(b.unfit !== undefined) - Number(a.unfit !== undefined))
          .map((item) => (
            <Item
              key={item.environment.id}
              item={item}
              action={action}
              result={results.get(item.environment.id)}
            />
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
  const { send, results, isFinished } = useBulkRun(action, organizationId);
  const [sent, setSent] = useState<readonly Choice[]>();
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
        <Report items={shown} action={action} results={results} isSent={sent !== undefined} />
        {sent === undefined && (
          <Question action={action} text={text} onText={setText} typed={typed} onTyped={setTyped} />
        )}
        {sent !== undefined && !isFinished && !send.isError && (
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
