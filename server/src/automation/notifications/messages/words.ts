/** Texts of notifications for people: a title and a few named facts. Pure; every text may come from a third party. */

import { planText } from '#contract/deployments/plan-counts.ts';
import { notificationEventWords } from '#contract/notifications/events.ts';
import type { DeploymentFacts } from '../../../rows/notifications/stored-facts.ts';
import type { Notification } from './notification.ts';

export interface Words {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Why something failed. */
  readonly error: string | null;
  readonly link: string | null;
}

const mostErrorCharacters = 1000;
const mostNameCharacters = 300;

/** The beginning of a text: no character is cut in half, which receivers refuse. */
export function beginningOf(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${beginningOf(text, most)}…` : text;
}

/** A name on one line, and not longer than one. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return shortened(line, mostNameCharacters);
}

/** Planned or applied changes; null without a plan. */
function changesText(deployment: DeploymentFacts | null): string | null {
  if (!deployment?.planSummary) return null;
  const { type, status, hasChanges, planSummary } = deployment;
  const isDone = status === 'SUCCESS' && type !== 'driftDetection';
  return planText({ planSummary, isPlanEmpty: hasChanges === false }, isDone ? 'done' : 'toDo');
}

export function wordsOf(notification: Notification): Words {
  const { event, facts, organization, project, blueprint, deployer, link } = notification;
  if (event === null || facts === null)
    return {
      title: 'Test of a notification endpoint',
      facts: [['Organization', oneLine(organization?.name ?? '')]],
      error: null,
      link,
    };
  const { environment, deployment, lifetime, discovery } = facts;
  const named: [string, string | null | undefined][] = [
    ['Environment', environment?.name],
    ['Project', project?.name],
    ['Organization', organization?.name],
    ['Repository', discovery?.repository],
    ['Template', blueprint?.name],
    ['Started by', deployment && (deployer?.name ?? deployment.startedBy)],
    ['Revision', deployment?.commitHash ?? deployment?.blueprintRevision],
    ['Changes', changesText(deployment)],
    ['Comment', deployment?.comment],
    ['Will be destroyed at', lifetime?.destroyAt],
  ];
  const error = discovery?.reason ?? lifetime?.reason ?? deployment?.error?.message ?? null;
  return {
    title: `${notificationEventWords[event]}: ${oneLine(environment?.name ?? project?.name ?? '')}`,
    facts: named.flatMap(([name, value]) => (value ? [[name, oneLine(value)] as const] : [])),
    error: error === null ? null : shortened(error, mostErrorCharacters),
    link,
  };
}
