/** The last step: what will run, and the command and the call that do the same. */
import { Alert, Textarea } from '@mantine/core';
import { useSession } from '../../../api/session.ts';
import { toolName } from '../../../design/words.ts';
import { useProjects } from '../../../forms/ProjectSelect.tsx';
import { pathOf } from '../../../forms/project-tree.ts';
import { versionsOf } from '../../../forms/source/source-values.ts';
import { changesOf, isChanged, type VariableFormRow } from '../../../forms/variables/rows.ts';
import { missingOf } from '../../../forms/variables/variable-edits.ts';
import { CommandLine } from '../../../ui/CommandLine.tsx';
import { type Fact, Facts } from '../../../ui/Facts.tsx';
import { placeOfCode } from './code.ts';
import type { Draft } from './draft.ts';
import { environmentCall } from './environment-calls.ts';
import classes from './new.module.css';
import { toolWords } from './tool-words.ts';
import type { NewEnvironmentForm } from './use-new-environment.ts';

function lifetimeText({ lifetime, hours, date, deployCron, destroyCron }: Draft): string {
  if (deployCron !== '' || destroyCron !== '') return 'Its schedule decides';
  if (lifetime === 'hours') return `${hours} hours from now, then it is destroyed`;
  if (lifetime === 'infinite') return 'No end';
  if (lifetime === 'date') return `Until ${new Date(date).toLocaleString()}, then it is destroyed`;
  return 'As the policy of the project says';
}

function Runs({
  draft,
  type,
  code,
  asksApproval,
}: Pick<NewEnvironmentForm, 'draft' | 'type' | 'code' | 'asksApproval'>) {
  const words = code && toolWords(code.type);
  if (!draft.isDeployed) return 'Nothing now: it is deployed on request';
  if (words === undefined) return `${toolName(type)}: this version does not run it`;
  return (
    <ol className={classes.commands}>
      {words.plan.map((text) => (
        <li key={text}>
          <code>{text}</code>
        </li>
      ))}
      <li>
        {asksApproval
          ? `Then it waits for an approval of ${words.covers}`
          : 'No approval: the plan is applied immediately'}
      </li>
      <li>{words.apply}</li>
    </ol>
  );
}

function shownValue({ isSensitive, value }: Pick<VariableFormRow, 'isSensitive' | 'value'>) {
  if (isSensitive) return <em>hidden</em>;
  return value === '' ? <em>empty</em> : <code className={classes.value}>{value}</code>;
}

function ChangedVariables({ rows }: { readonly rows: readonly VariableFormRow[] }) {
  const changed = rows.filter(isChanged);
  if (changed.length === 0) return 'None: all values are those of the code and the scopes';
  return (
    <ul className="plain">
      {changed.map((row) => (
        <li key={row.key}>
          <code>{row.name}</code> = {shownValue(row)}
          {row.before && row.before.value !== '' && <> instead of {shownValue(row.before)}</>}
        </li>
      ))}
    </ul>
  );
}

function useFacts(state: NewEnvironmentForm): Fact[] {
  const { draft, code, template, type, rows } = state;
  const { projects } = useProjects();
  const versions = code ? versionsOf(code).flatMap((field) => (code[field] === '' ? [] : [code[field]])) : [];
  const schedules = [
    ['deploy', draft.deployCron],
    ['destroy', draft.destroyCron],
    ['drift', draft.driftCron],
  ].filter(([, cron]) => cron !== '');
  return [
    ['Environment', <bdi key="name">{draft.name}</bdi>],
    ['Project', <bdi key="project">{pathOf(projects, draft.projectId)}</bdi>],
    ['Template', template && draft.from === 'template' ? <bdi>{template.name}</bdi> : undefined],
    ['Code', code && <code>{placeOfCode(code)}</code>],
    ['Tool', [toolName(type), ...versions].join(' ')],
    ['What runs', <Runs key="runs" {...state} />],
    ['Variables that differ', <ChangedVariables key="changed" rows={rows} />],
    ['Lifetime', lifetimeText(draft)],
    ['Schedule', schedules.map(([what, cron]) => `${what} at ${cron} (UTC)`).join(', ')],
    ['Tags', draft.tags.join(', ')],
    ['Namespace', ['k8s', 'helm'].includes(type) ? draft.k8sNamespace : ''],
  ];
}

function Missing({ rows }: { readonly rows: readonly VariableFormRow[] }) {
  const missing = missingOf(rows);
  if (missing.length === 0) return null;
  return (
    <Alert color="yellow" role="status" mb="md" title="Some variables have no value">
      {missing.map(({ name }) => name).join(', ')}: the plan fails unless a file of the repository sets them.
    </Alert>
  );
}

export function PreviewStep(state: NewEnvironmentForm) {
  const { organizationId } = useSession();
  const { draft, type, rows, set, errors } = state;
  const call = environmentCall(draft, type, organizationId, changesOf(rows));
  return (
    <section aria-label="Preview" className={classes.preview}>
      <Missing rows={rows} />
      <Facts facts={useFacts(state)} />
      {draft.isDeployed && (
        <Textarea
          mt="md"
          label="Comment"
          description="Shown with the first deployment"
          autosize
          maxLength={4000}
          value={draft.comment}
          onChange={(event) => set({ comment: event.currentTarget.value })}
          error={errors.comment}
        />
      )}
      <h2 className={classes.head}>The same from a terminal</h2>
      <CommandLine label="Command line" text={call.cli ?? ''} />
      <CommandLine label="API" text={call.curl} />
    </section>
  );
}
