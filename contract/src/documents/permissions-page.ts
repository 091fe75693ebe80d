/** docs/operate/permissions.md: every right, who has it by a built-in role, and what it is needed for. */

import { operations } from '../operations.ts';
import { builtInRoles } from '../schema/built-in-roles.ts';
import { type Right, rights } from '../schema/enumerations.ts';
import { type Operation, rightsOf, type Subject } from '../schema/operation.ts';

const all: readonly Operation[] = Object.values(operations);

const columns = Object.entries(builtInRoles).flatMap(([scope, roles]) =>
  Object.entries(roles).map(([role, held]: [string, readonly Right[]]) => ({ scope, role, held })),
);

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function rolesTable(): string[] {
  const title = (scope: string) => `${scope[0]?.toUpperCase() ?? ''}${scope.slice(1)}`;
  return [
    row(['Right', ...columns.map(({ scope, role }) => `${title(scope)} ${role}`)]),
    row(['---', ...columns.map(() => ':-:')]),
    ...rights.map((right) =>
      row([`\`${right}\``, ...columns.map(({ held }) => (held.includes(right) ? '✓' : ''))]),
    ),
  ];
}

/** Candidates of a request that need another right than the others, as words. */
function placesWith(right: Right, { needs, subject = [] }: Operation): string {
  const subjects: readonly Subject[] = [subject].flat();
  if (subjects.every((each) => each.needs === undefined)) return '';
  const own = subjects.filter((each) => (each.needs ?? needs) === right);
  return ` with ${own.map(({ field }) => `\`${field}\``).join(' or ')}`;
}

function operationsOf(right: Right): string[] {
  const whole = all
    .filter((operation) => rightsOf(operation).includes(right))
    .map((operation) => {
      const { method, path, needsAnywhere, needsInstead } = operation;
      const instead = needsInstead?.right === right ? ` with ${needsInstead.for}` : '';
      return `\`${method} ${path}\`${needsAnywhere ? ' (somewhere)' : ''}${placesWith(right, operation)}${instead}`;
    });
  const parts = all.flatMap(({ method, path, needsToo = [] }) =>
    needsToo.filter((each) => each.right === right).map((each) => `\`${method} ${path}\` with ${each.for}`),
  );
  return [...whole, ...parts];
}

function operationsTable(): string[] {
  return [
    row(['Right', 'Operations']),
    row(['---', '---']),
    ...rights.map((right) => row([`\`${right}\``, operationsOf(right).join('<br>') || 'none yet'])),
  ];
}

function withoutRight(needs: 'signed-in' | 'nothing'): string {
  return all
    .filter((operation) => operation.needs === needs)
    .map(({ method, path }) => `\`${method} ${path}\``)
    .join(', ');
}

/** The page as Markdown. */
export function permissionsPage(): string {
  return [
    '# Permissions',
    '',
    'What each built-in role may do, and which right each operation needs. Custom roles are made of the same rights. A role holds where it is',
    'assigned and below: in an organization for all its projects and environments, in a project for its sub-projects and environments. With',
    'several roles, a caller has the rights of all of them. Generated from the operations of the contract, which the service checks requests with.',
    '',
    '## Built-in roles',
    '',
    ...rolesTable(),
    '',
    '## Operations by right',
    '',
    'The right is needed at the place that the request is about; "(somewhere)": anywhere in the organization, and the reply contains what the',
    'caller may see. Without it, the answer is 403 and names the right. What belongs to another organization does not exist for the caller:',
    '404 for an id in the path, 400 for one anywhere else.',
    '',
    ...operationsTable(),
    '',
    `Every caller with valid credentials may use ${withoutRight('signed-in')}; the replies contain what the caller may see.`,
    '',
    `No credentials are needed for ${withoutRight('nothing')}.`,
    '',
  ].join('\n');
}
