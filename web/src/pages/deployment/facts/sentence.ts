/** A deployment as one sentence: what happens, why it waits, how it ended. */

import { findingsText } from '#contract/deployments/diagnostics.ts';
import { type ChangeCounts, countsText } from '#contract/deployments/plan-counts.ts';
import type { Deployment, Step } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus, StepStatus } from '#contract/schema/enumerations.ts';
import { deploymentTypeWords } from '../../../design/words.ts';
import { spanText } from '../../../ui/spans.ts';

/** First read of the page: everything but the large parts. */
export type DeploymentHead = Deployment;

export interface SentenceFacts {
  readonly deployment: DeploymentHead;
  readonly steps: readonly Step[];
  /** Undefined: there is no plan, or it is not read yet. */
  readonly counts: ChangeCounts | undefined;
  /** The deployment that this one is queued behind, once it is read. */
  readonly ahead?: Pick<DeploymentHead, 'type' | 'status' | 'startedAt'> | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** With one unit: seconds that tick in a sentence are not informative. */
function span(from: string | null | undefined, to: number): string {
  const [number, unit] = spanText(Math.max(0, to - Date.parse(from ?? ''))).split(' ');
  return `${number} ${unit}`;
}

function ago(at: string | null | undefined, now: number): string {
  return Number.isNaN(Date.parse(at ?? '')) || now - Date.parse(at!) < 1000
    ? 'just now'
    : `${span(at, now)} ago`;
}

/** Times within texts of the service as people say them, such as "since 21:40:05". */
function withReadableTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => new Date(at).toLocaleString());
}

/** Time that was spent waiting for people. */
function approvalMilliseconds(steps: readonly Step[], now: number): number {
  const step = steps.find(({ name }) => name === 'approval:wait');
  if (!step?.startedAt) return 0;
  return (step.completedAt ? Date.parse(step.completedAt) : now) - Date.parse(step.startedAt);
}

/** Working time: from its start to its end, without the wait for approval; undefined before its start. */
function workedText({ deployment, steps, now }: SentenceFacts): string | undefined {
  const { startedAt, finishedAt } = deployment;
  if (!startedAt) return undefined;
  const end = finishedAt ? Date.parse(finishedAt) : now;
  return spanText(Math.max(0, end - Date.parse(startedAt) - approvalMilliseconds(steps, end)));
}

/** First line of an error, without the word that begins it. */
function errorLine(message: string): string {
  const lines = message.split('\n').map((line) => line.replace(/^[\s│╷╵]*(Error:\s*)?/, '').trim());
  const text = lines.find((line) => line !== '') ?? '';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

const failedStatuses: readonly StepStatus[] = ['FAIL', 'TIMEOUT', 'CANCELLED'];

/** The step in which it ended early; undefined where none did. */
export function failedStep(steps: readonly Step[]): Step | undefined {
  return steps.find(({ status }) => failedStatuses.includes(status));
}

function queued({ deployment: { waitingFor, queuedAt }, ahead, now }: SentenceFacts): string {
  const since = `requested ${ago(queuedAt, now)}`;
  if (waitingFor?.kind !== 'deployment')
    return ['Queued', ...(waitingFor ? [withReadableTimes(waitingFor.text)] : []), since].join(' · ');
  if (!ahead) return `Queued · ${waitingFor.text} · ${since}`;
  const what = ahead.status === 'WAITING_FOR_USER' ? 'waiting for approval' : 'running';
  const time = ahead.startedAt ? ` for ${span(ahead.startedAt, now)}` : '';
  return `Queued behind a ${deploymentTypeWords[ahead.type].toLowerCase()} (${what}${time}) · ${since}`;
}

function running({ deployment, steps, now }: SentenceFacts): string {
  const { waitingFor, startedAt } = deployment;
  const step = steps.find(({ status }) => status === 'IN_PROGRESS');
  const begun = `started ${ago(startedAt, now)}`;
  if (waitingFor) return `${withReadableTimes(waitingFor.text)} · ${begun}`;
  if (!step) return `Running · ${begun}`;
  return `Running ${step.name} for ${span(step.startedAt, now)} · ${begun}`;
}

function waiting({ deployment, counts, now }: SentenceFacts): string {
  const { waitingFor, isPlanEmpty, diagnostics = [] } = deployment;
  const none = isPlanEmpty === true ? 'nothing to apply' : 'no resource changes';
  const changes = counts ? countsText(counts, 'toDo') || none : '';
  const requested = `requested ${ago(waitingFor?.since, now)}`;
  const found = findingsText(diagnostics);
  return ['Waiting for approval', changes, found, requested].filter((part) => part !== '').join(' · ');
}

function succeeded(facts: SentenceFacts): string {
  const found = findingsText(facts.deployment.diagnostics ?? []);
  return [succeededText(facts), ...(found === '' ? [] : [found])].join(' · ');
}

function succeededText(facts: SentenceFacts): string {
  const { deployment, counts } = facts;
  const { type, driftDetected, isSkippedApply, isPlanEmpty } = deployment;
  const took = workedText(facts);
  const within = took === undefined ? '' : ` in ${took}`;
  if (type === 'driftDetection')
    return driftDetected ? `Drift was found${within}` : `No drift was found${within}`;
  const isApplied = type === 'deploy' || type === 'destroy';
  const changes = counts ? countsText(counts, isApplied ? 'done' : 'toDo') : '';
  if (isSkippedApply || isPlanEmpty === true) return `Succeeded${within}: there was nothing to change`;
  if (counts && changes === '') return `Succeeded${within}: no resource changes`;
  return changes === '' ? `Succeeded${within}` : `Succeeded${within}: ${changes}`;
}

function failed(word: string, facts: SentenceFacts): string {
  const step = failedStep(facts.steps);
  const took = workedText(facts);
  const message = errorLine(facts.deployment.error?.message ?? '');
  const place = step ? ` in ${step.name}` : '';
  return `${word}${place}${took ? ` after ${took}` : ''}${message === '' ? '' : `: ${message}`}`;
}

function cancelled({ deployment, now }: SentenceFacts): string {
  const { reviewersUsers, finishedAt, policyVerdicts = [] } = deployment;
  const refused = reviewersUsers.findLast(({ action }) => action === 'cancelled');
  const denying = policyVerdicts.findLast(({ decision }) => decision === 'deny');
  const word = refused
    ? `Refused by ${refused.user.name}`
    : denying
      ? `Denied by the approval policy ${denying.policyName}`
      : 'Cancelled';
  return `${word} ${ago(finishedAt, now)}`;
}

function aborted(facts: SentenceFacts): string {
  const { abortedByUser } = facts.deployment;
  // Its error says nothing else than that it was aborted.
  const deployment = { ...facts.deployment, error: null };
  return failed(`Aborted${abortedByUser ? ` by ${abortedByUser.name}` : ''}`, { ...facts, deployment });
}

const sentences: Readonly<Record<DeploymentStatus, (facts: SentenceFacts) => string>> = {
  QUEUED: queued,
  IN_PROGRESS: running,
  WAITING_FOR_USER: waiting,
  ABORTING: ({ deployment: { abortedByUser, waitingFor } }) =>
    [
      `Aborting${abortedByUser ? `, as requested by ${abortedByUser.name}` : ''}`,
      waitingFor ? withReadableTimes(waitingFor.text) : 'the tool is being stopped, and its state is kept',
    ].join(' · '),
  SUCCESS: succeeded,
  FAILURE: (facts) => failed('Failed', facts),
  INTERNAL_FAILURE: (facts) => failed('Failed because of the service', facts),
  TIMEOUT: (facts) => failed('Timed out', facts),
  ABORTED: aborted,
  CANCELLED: cancelled,
  SKIPPED: () => 'Skipped: a later deployment made it redundant',
  NEVER_DEPLOYED: () => 'Not deployed yet',
};

/** Progress of the current level, or its result. */
export function levelText(
  { status, planHash }: Pick<DeploymentHead, 'status' | 'planHash'>,
  steps: readonly Pick<Step, 'name' | 'status'>[],
): string {
  if (status === 'SUCCESS') return 'applied';
  if (status === 'WAITING_FOR_USER') return 'waits for approval';
  if (isTerminal(status)) return 'was not completed';
  if (status === 'ABORTING') return 'is being stopped';
  if (steps.some((step) => step.name === 'policy:check' && step.status === 'IN_PROGRESS'))
    return 'is being checked';
  return planHash === undefined ? 'is being planned' : 'is being applied';
}

/** The sentence that a page about a deployment begins with. */
export function sentenceOf(facts: SentenceFacts): string {
  return sentences[facts.deployment.status](facts);
}
