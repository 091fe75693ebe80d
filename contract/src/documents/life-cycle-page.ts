/** The life cycles as a page of the documentation. */
import { deploymentStatuses, environmentStatuses } from '../schema/enumerations.ts';
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
    'What a person can do to one:',
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
    `Its status is a function of one deployment of type ${speakingTypes.join(', ')}: the active one, else the next in the queue, else the newest.`,
    'Other types leave it alone.',
    'An archived environment is INACTIVE. "As before" is what stood before that deployment; a new environment begins with NEVER_DEPLOYED.',
    'The reply that creates an environment says CREATED where its first deployment is on its way.',
    '',
    ...environmentTable(),
    'What it can be asked for (`plan`: dry run, PR plan, remote plan). While something is under way, the request is queued. A locked environment accepts',
    'none of these, an archived one only `deploy`, which brings it back.',
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
