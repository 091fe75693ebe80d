/** Says which of the chosen environments an action fits before it starts, and what became of each after. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Environment } from '#contract/environments/shapes.ts';
import { errorText } from '../../../api/errors.ts';
import { type StatusLook, StatusShape } from '../../../design/status.tsx';
import { planText } from '#contract/deployments/plan-counts.ts';
import type { ItemState } from './bulk.ts';
import { type BulkAction, type BulkLook, bulkLooks } from './fitting.ts';
import classes from './list.module.css';
import { type BulkItem, useBulkRun, useFitting } from './use-bulk.ts';

const looks: Readonly<Record<ItemState['state'] | 'unfit' | 'fits', StatusLook>> = {
  fits: { word: 'Fits', tone: 'idle', shape: 'hollow' },
  unfit: { word: 'Left out', tone: 'idle', shape: 'bar' },
  waiting: { word: 'Waits', tone: 'idle', shape: 'dotted' },
  running: { word: 'Is sent', tone: 'run', shape: 'ring' },
  stopped: { word: 'Not sent', tone: 'idle', shape: 'bar' },
  done: { word: 'Done', tone: 'ok', shape: 'check' },
  failed: { word: 'Failed', tone: 'fail', shape: 'cross' },
};

function Outcome({ state, look }: { readonly state: ItemState; readonly look: BulkLook }) {
  if (state.state === 'failed') return <span>{errorText(state.error).text}</span>;
  if (state.state !== 'done') return <span>{looks[state.state].word}</span>;
  if (state.deploymentId === undefined) return <span>{look.done}</span>;
  return (
    <span>
      {look.done}:{' '}
      <Link to="/deployments/$deploymentId" params={{ deploymentId: state.deploymentId }}>
        its deployment
      </Link>
    </span>
  );
}

interface ItemProps {
  readonly item: BulkItem;
  readonly action: BulkAction;
  readonly state: ItemState | undefined;
}

function Item({ item: { environment, unfit }, action, state }: ItemProps) {
  const { planSummary, isPlanEmpty } = environment.latestDeploymentLog;
  const isFit = unfit === undefined;
  return (
    <li>
      <StatusShape look={looks[state?.state ?? (isFit ? 'fits' : 'unfit')]} />
      <bdi>{environment.name}</bdi>
      {state ? (
        <Outcome state={state} look={bulkLooks[action]} />
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

/** What it did, in numbers. */
function summaryOf(states: ReadonlyMap<string, ItemState>): string {
  const count = (state: ItemState['state']) =>
    [...states.values()].filter((each) => each.state === state).length;
  const parts = [
    `${count('done')} done`,
    ...(count('failed') > 0 ? [`${count('failed')} failed`] : []),
    ...(count('stopped') > 0 ? [`${count('stopped')} not sent`] : []),
    ...(count('waiting') + count('running') > 0 ? [`${count('waiting') + count('running')} to go`] : []),
  ];
  return parts.join(', ');
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
  readonly items: readonly BulkItem[];
  readonly action: BulkAction;
  readonly states: ReadonlyMap<string, ItemState>;
}

/** Each of them: those that are left out come first. */
function Report({ items, action, states }: ReportProps) {
  const left = items.filter(({ unfit }) => unfit !== undefined).length;
  const question = left === 0 ? 'All that you have chosen fit.' : `${countText(left)} left out:`;
  return (
    <>
      <p role="status" className={classes.summary}>
        {states.size > 0 ? summaryOf(states) : question}
      </p>
      <ul className={classes.report}>
        {items
          .toSorted((a, b) => Number(b.unfit !== undefined) - Number(a.unfit !== undefined))
          .map((item) => (
            <Item
              key={item.environment.id}
              item={item}
              action={action}
              state={states.get(item.environment.id)}
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
  const [asked] = useState(environments);
  const [text, setText] = useState('');
  const [typed, setTyped] = useState('');
  const { isKnown, items } = useFitting(organizationId, action, asked);
  const { states, run, stop } = useBulkRun(action);
  const [sent, setSent] = useState<readonly BulkItem[]>();
  const shown = sent ?? items;
  const fitting = shown.filter(({ unfit }) => unfit === undefined);
  const verb = `${bulkLooks[action].verb} ${countText(fitting.length)}`;
  const isReady = isKnown && fitting.length > 0 && (action !== 'destroy' || typed === 'destroy');
  const start = () => {
    setSent(items);
    run.mutate({ environments: fitting.map(({ environment }) => environment), text: text.trim() });
  };
  return (
    <Modal
      opened
      onClose={run.isPending ? () => undefined : onClose}
      title={`${bulkLooks[action].verb}: ${countText(fitting.length)}`}
      size="lg"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && sent === undefined) start();
        }}
      >
        <Report items={shown} action={action} states={states} />
        {sent === undefined && (
          <Question action={action} text={text} onText={setText} typed={typed} onTyped={setTyped} />
        )}
        <Group mt="md" justify="flex-end">
          <Button variant="default" onClick={run.isPending ? stop : onClose}>
            {run.isPending ? 'Stop after those under way' : sent === undefined ? 'Cancel' : 'Close'}
          </Button>
          {sent === undefined && (
            <Button type="submit" disabled={!isReady} {...(action === 'destroy' ? { color: 'red' } : {})}>
              {verb}
            </Button>
          )}
        </Group>
      </form>
    </Modal>
  );
}
