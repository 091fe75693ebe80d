/** The state of the page that creates an environment: the draft, what it is about, and its creation. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Template } from '#contract/templates/shapes.ts';
import { fieldOf, fieldText } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { useSession } from '../../../api/session.ts';
import { useProjects } from '../../../forms/ProjectSelect.tsx';
import { useWrongField } from '../../../forms/problems.ts';
import { useLater } from '../../../forms/use-later.ts';
import { isReady, rowOfField } from '../../../forms/variables/checks.ts';
import { changesOf, type VariableFormRow } from '../../../forms/variables/rows.ts';
import { editsOf, rowsWith } from '../../../forms/variables/variable-edits.ts';
import { useSearchState } from '../../../ui/search.ts';
import { codeOf, definitionsQuery, hasDefinitions } from './code.ts';
import {
  type Draft,
  type DraftErrors,
  draftField,
  dropDraft,
  emptyDraft,
  keepDraft,
  keptDraft,
  repositoryBody,
  scheduleBody,
  settingsStepErrors,
  sourceStepErrors,
  stepOf,
  templateBody,
} from './draft.ts';

/** Values in the address take precedence over earlier input. */
function firstDraft(project: string | undefined, template: string | undefined): Draft {
  const kept = keptDraft() ?? emptyDraft;
  return {
    ...kept,
    ...(project === undefined ? {} : { projectId: project }),
    ...(template === undefined ? {} : { from: 'template', templateId: template }),
  };
}

/** The draft, kept in the tab with each change. */
function useDraft() {
  const [{ project, template }] = useSearchState();
  const [draft, setDraft] = useState(() => firstDraft(project, template));
  const { projects, query } = useProjects();
  useEffect(() => keepDraft(draft), [draft]);
  const only = projects.length === 1 ? projects[0]!.id : '';
  const effective = draft.projectId === '' && only !== '' ? { ...draft, projectId: only } : draft;
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  return { draft: effective, set, isProjectKnown: effective.projectId !== '' || !query.isLoading };
}

const here = { scope: 'ENVIRONMENT' } as const;

function isFirstRead({ isLoading, failureCount }: UseQueryResult<unknown>): boolean {
  return isLoading && failureCount === 0;
}

/** Variables that the code declares and the scopes provide. */
function useVariables(draft: Draft, template: Template | undefined, isNeeded: boolean) {
  const { organizationId } = useSession();
  const code = codeOf(draft, template);
  const canRead = hasDefinitions(code) && draft.projectId !== '';
  const definitions = useRead(
    'listVariablesFromRepository',
    { query: canRead ? definitionsQuery(code, draft.projectId, organizationId) : { repository: '' } },
    { enabled: canRead && isNeeded },
  );
  const inherited = useRead(
    'listVariables',
    {
      query: {
        organizationId,
        projectId: draft.projectId,
        ...(draft.from === 'template' && draft.templateId !== '' ? { blueprintId: draft.templateId } : {}),
      },
    },
    { enabled: isNeeded && draft.projectId !== '' },
  );
  const rows = rowsWith(definitions.data ?? [], inherited.data ?? [], draft.edits, here);
  /** Whether the page knows what the values that were typed belong to; code that cannot be read blocks nothing. */
  const areKnown = ![definitions, inherited].some(isFirstRead);
  return { code, canRead, definitions, inherited, rows, areKnown };
}

/** Deploys and destroys on a schedule have a request of their own, after the environment is there. */
function useSchedule() {
  return useChange('updateEnvironmentSchedule', { refreshes: ['getEnvironmentSchedule'] });
}

interface Creation {
  readonly draft: Draft;
  readonly type: string;
  readonly rows: readonly VariableFormRow[];
  readonly onRefused: (field: string | undefined, error: unknown) => void;
}

function useCreation({ draft, type, rows, onRefused }: Creation) {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const schedule = useSchedule();
  const options = {
    refreshes: ['listEnvironments', 'listDeployments', 'listEnvironmentTags'] as const,
    onError: (error: unknown) => {
      onRefused(fieldOf(error), error);
      return true;
    },
    onSuccess: (created: { id: string; name: string; latestDeploymentLog: { id?: string | undefined } }) => {
      const crons = scheduleBody(draft);
      if (crons) schedule.mutate({ params: { id: created.id }, body: crons });
      dropDraft();
      showDone(`Environment ${created.name} was created`);
      const { id: deploymentId } = created.latestDeploymentLog;
      if (draft.isDeployed && deploymentId)
        void navigate({ to: '/deployments/$deploymentId', params: { deploymentId } });
      else void navigate({ to: '/environments/$environmentId', params: { environmentId: created.id } });
    },
  };
  const fromTemplate = useChange('createEnvironment', options);
  const fromRepository = useChange('createEnvironmentWithoutTemplate', options);
  const create = () => {
    const changes = changesOf(rows);
    if (draft.from === 'template') fromTemplate.mutate({ body: templateBody(draft, type, changes) });
    else fromRepository.mutate({ body: repositoryBody(draft, organizationId, changes) });
  };
  return { create, isBusy: fromTemplate.isPending || fromRepository.isPending };
}

export const stepNames = ['Code', 'Settings', 'Variables', 'Preview'] as const;

/** Current step; it is in the address, so that "back" leads to the one before. */
function useStep() {
  const [search, setSearch] = useSearchState();
  const step = Math.min(Math.max(0, Number(search.step ?? 0) || 0), stepNames.length - 1);
  const go = (next: number) => setSearch({ step: next === 0 ? undefined : String(next) }, true);
  return { step, go };
}

interface Checked {
  readonly draft: Draft;
  readonly type: string;
  readonly rows: readonly VariableFormRow[];
  readonly go: (step: number) => void;
}

/** Problems at the fields: found here or refused by the service. */
function useProblems({ draft, type, rows, go }: Checked) {
  const [errors, setErrors] = useState<DraftErrors>({});
  const [rowErrors, setRowErrors] = useState<Readonly<Record<string, string | undefined>>>({});
  const [failure, setFailure] = useState<unknown>();
  const [isStrict, setIsStrict] = useState(false);
  /** Shows what is wrong with a step. @returns whether it is fit */
  const check = (at: number): boolean => {
    const found =
      at === 0 ? sourceStepErrors(draft) : at === 1 ? settingsStepErrors(draft, type, Date.now()) : {};
    setErrors(found);
    if (at !== 2) return Object.keys(found).length === 0;
    setIsStrict(true);
    return isReady(rows);
  };
  const onRefused = (field: string | undefined, error: unknown) => {
    setFailure(error);
    const key = rowOfField(field, rows);
    const own = field === undefined ? undefined : draftField(field, draft);
    if (own === undefined) return;
    if (own === 'edits' && key !== undefined) setRowErrors({ [key]: fieldText(error) });
    else setErrors({ [own]: fieldText(error) });
    go(stepOf(own));
  };
  const forget = () => {
    setErrors({});
    setRowErrors({});
  };
  return { errors, rowErrors, failure, isStrict, check, onRefused, setFailure, forget };
}

/** The templates that the project may use, and the one that was chosen. */
function useTemplates({ from, projectId, templateId }: Draft) {
  const { organizationId } = useSession();
  const templates = useRead(
    'listTemplates',
    { query: { organizationId, ...(projectId === '' ? {} : { projectId }) } },
    { enabled: projectId !== '' },
  );
  return {
    templates,
    template: templates.data?.find(({ id }) => id === templateId),
    isTemplateKnown: from === 'repository' || templateId === '' || !templates.isLoading,
  };
}

/** Defaults of the project where the draft has no value. */
function usePolicy({ projectId, requiresApproval }: Draft) {
  const { data: policy } = useRead('getPolicy', { query: { projectId } }, { enabled: projectId !== '' });
  const { data: limits } = useRead(
    'checkPolicyLimits',
    { query: { projectId } },
    { enabled: projectId !== '' },
  );
  const { data: organization } = useRead(
    'getOrganization',
    { params: { id: policy?.organizationId ?? '' } },
    { enabled: policy?.maxTtl === 'inherit' },
  );
  return {
    policy,
    asksApproval: requiresApproval ?? policy?.requiresApprovalDefault ?? true,
    /** Whether the project allows no further environment. */
    isFull: limits !== undefined && (limits.warnings.total || limits.warnings.user),
    maxTtl: policy?.maxTtl === 'inherit' ? organization?.maxTtl : policy?.maxTtl,
  };
}

interface Moving {
  readonly step: number;
  readonly go: (step: number) => void;
  /** Whether it is known which project and tool the draft is about. */
  readonly isKnown: boolean;
  readonly areVariablesKnown: boolean;
  readonly check: (step: number) => boolean;
  readonly create: () => void;
}

/** Actions of the buttons, at once or as soon as the page has read what the steps are checked with. */
function useMoves({ step, go, isKnown, areVariablesKnown, check, create }: Moving) {
  const firstWrong = (from: number, to: number) =>
    [0, 1, 2].find((at) => at >= from && at < to && !check(at));
  const forwards = useLater(isKnown, (next: number) => {
    const wrong = firstWrong(step, next);
    if (wrong !== step) go(wrong ?? next);
  });
  const creation = useLater(isKnown && areVariablesKnown, () => {
    const wrong = firstWrong(0, stepNames.length);
    if (wrong === undefined) create();
    else go(wrong);
  });
  const stay = () => {
    forwards.forget();
    creation.forget();
  };
  return {
    isWaiting: forwards.isWaiting || creation.isWaiting,
    /** Goes on only over steps that are fit; back always. */
    goTo: (next: number) => {
      stay();
      if (next > step) forwards.run(next);
      else go(next);
    },
    create: () => {
      stay();
      creation.run(undefined);
    },
    stay,
  };
}

/** Everything that the steps share. */
export function useNewEnvironment() {
  const { draft, set, isProjectKnown } = useDraft();
  const { step, go } = useStep();
  const { templates, template, isTemplateKnown } = useTemplates(draft);
  const policy = usePolicy(draft);
  const { areKnown: areVariablesKnown, ...variables } = useVariables(draft, template, step >= 2);
  const type = variables.code?.type ?? 'terraform';
  const rights = useRights(draft.projectId === '' ? undefined : { projectId: draft.projectId });
  const { check, onRefused, setFailure, forget, ...problems } = useProblems({
    ...{ draft, type, go },
    rows: variables.rows,
  });
  useWrongField(problems.errors, step);
  const { create, isBusy } = useCreation({ draft, type, rows: variables.rows, onRefused });
  const isKnown = isProjectKnown && isTemplateKnown;
  const moves = useMoves({ step, go, isKnown, areVariablesKnown, check, create });
  const change = (changes: Partial<Draft>) => {
    forget();
    moves.stay();
    set(changes);
  };
  return {
    ...{ draft, step, templates, template, type, rights },
    ...policy,
    ...variables,
    ...problems,
    isBusy: isBusy || moves.isWaiting,
    goTo: (next: number) => {
      setFailure(undefined);
      moves.goTo(next);
    },
    set: change,
    setRows: (rows: readonly VariableFormRow[]) => change({ edits: editsOf(rows) }),
    create: () => {
      setFailure(undefined);
      moves.create();
    },
    startOver: () => {
      dropDraft();
      change(emptyDraft);
      go(0);
    },
  };
}

export type NewEnvironmentForm = ReturnType<typeof useNewEnvironment>;
