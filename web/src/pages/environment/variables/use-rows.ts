/** The variables of an environment while they are edited: those of its code, and those that hold there. */
import { useRead } from '../../../api/queries.ts';
import { sourceOf } from '../../../forms/source/source-values.ts';
import { useEdits } from '../../../forms/variables/use-edits.ts';
import { rowsWith } from '../../../forms/variables/variable-edits.ts';
import { definitionsQuery, hasDefinitions } from '../../environments/new/code.ts';
import type { EnvironmentProps } from '../facts/reads.ts';

/** Variables of the code, if the person may have the service read it. */
function useDefinitions({ environment, rights }: EnvironmentProps) {
  const { organizationId, projectId, latestDeploymentLog: latest, blueprintId } = environment;
  const id = latest?.blueprintId ?? blueprintId ?? '';
  const { data: template } = useRead('getTemplate', { params: { id } }, { enabled: id !== '' });
  const revision = latest?.blueprintRevision || template?.revision;
  const code = template && { ...sourceOf(template), revision: revision ?? '' };
  const mayRead = rights.has('CREATE_VCS_ENVIRONMENT') || rights.has('CREATE_AND_EDIT_TEMPLATES');
  const canRead = mayRead && hasDefinitions(code);
  return useRead(
    'listVariablesFromRepository',
    { query: canRead ? definitionsQuery(code, projectId, organizationId) : { repository: '' } },
    { enabled: canRead },
  );
}

/** Rows of the code and the scopes, with what was typed over them. */
export function useRows(props: EnvironmentProps) {
  const { id, organizationId } = props.environment;
  const query = useRead('listVariables', { query: { organizationId, environmentId: id } });
  const definitions = useDefinitions(props);
  const { edits, keep, unsaved, onSaved, onRefreshed } = useEdits();
  const here = { scope: 'ENVIRONMENT', scopeId: id } as const;
  const rows = rowsWith(definitions.data ?? [], query.data ?? [], edits, here);
  return {
    query,
    isRead: query.data !== undefined && !definitions.isLoading,
    /** Why the variables of the code are not among them. */
    codeError: definitions.error,
    rows,
    setRows: keep,
    /** Number of unsaved changes. */
    unsaved: unsaved(rows),
    ...{ onSaved, onRefreshed },
  };
}
