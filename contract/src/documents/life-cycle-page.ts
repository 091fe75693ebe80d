/** The documentation page of the life cycles. */

import {
  deploymentActions,
  deploymentMoves,
  environmentActions,
  environmentPermits,
  environmentStatusOf,
  isTerminal,
  permits,
  speakingTypes,
} from '../life-cycle/life-cycle.ts';
import { deploymentStatuses, environmentStatuses } from '../schema/enumerations.ts';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

function diagram(): string[] {
  const moves = deploymentMoves.map(({ from, event, to }) => `  ${from ?? '[*]'} --> ${to}: ${event}`);
  const ends = deploymentStatuses.filter(isTerminal).map((status) => `  ${status} --> [*]`);
  return ['```mermaid', 'stateDiagram-v2', ...moves, ...ends, '```', ''];
}

const mark = (yes: boolean) => (yes ? 'yes' : '');

function environmentTable(): string[] {
  const rows = deploymentStatuses.map((status) => [
    status,
    ...speakingTypes.map((type) => {
      const [one, other] = (['ACTIVE', 'NEVER_DEPLOYED'] as const).map((resting) =>
        environmentStatusOf({ latest: { type, status }, resting, isArchived: false }),
      );
      return one === other ? (one as string) : 'as before';
    }),
  ]);
  return table(['Its latest deployment is', ...speakingTypes], rows);
}

/** The tables of `life-cycle.ts` with a diagram, in Markdown. */
export function lifeCyclePage(): string {
  return [
    '# Life cycles',
    '',
    'Generated from `contract/src/life-cycle/life-cycle.ts`, which the server enforces.',
    '',
    '## A deployment',
    '',
    ...diagram(),
    ...table(
      ['From', 'Event', 'To', 'When'],
      deploymentMoves.map(({ from, event, to, when }) => [from ?? 'none', event, to, when]),
    ),
    'What a person can do:',
    '',
    ...table(
      ['Status', ...deploymentActions],
      deploymentStatuses.map((status) => [
        status,
        ...deploymentActions.map((action) => mark(permits(status, action))),
      ]),
    ),
    '## An environment',
    '',
    `Its status is a function of one deployment of type ${speakingTypes.join(', ')}: the active one; otherwise the next in the queue; otherwise the newest.`,
    'Other types do not change it.',
    'An archived environment is INACTIVE. "As before" is the status before that deployment; a new environment starts with NEVER_DEPLOYED.',
    'The reply to a create request has the status CREATED if the first deployment has been started.',
    '',
    ...environmentTable(),
    'Which deployments can be requested (`plan`: dry run, PR plan, remote plan). While another deployment is active, the request is queued. A locked',
    'environment accepts none of these, and an archived one only `deploy`, which restores it.',
    '',
    ...table(
      ['Status', ...environmentActions],
      environmentStatuses.map((status) => [
        status,
        ...environmentActions.map((action) => mark(environmentPermits[status].includes(action))),
      ]),
    ),
  ].join('\n');
}
