/** One approval policy: its verdicts, where it is assigned, and where its code is. */
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ApprovalPolicyEntry } from '#contract/custom-flows/shapes.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Removal } from '../../records/Removal.tsx';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { EditPolicy } from './EditPolicy.tsx';
import { PolicyPlaces } from './PolicyPlaces.tsx';
import { PolicyVerdicts } from './PolicyVerdicts.tsx';
import { placeOfPolicy } from './policy-words.ts';
import { TestPolicy } from './TestPolicy.tsx';

interface OfEntry {
  readonly entry: ApprovalPolicyEntry;
}

const crumbs = [{ label: 'Approval policies', to: '/approval-policies' }];

function Settings({ entry: { policy, assignments } }: OfEntry) {
  const { policyConfiguration: configuration } = policy;
  const hash = assignments.find((each) => each.hash !== undefined)?.hash;
  return (
    <Facts
      facts={[
        ['Code', <code key="code">{placeOfPolicy(policy)}</code>],
        ['Configuration', configuration && <code key="json">{JSON.stringify(configuration)}</code>],
        ['Last evaluated as', hash && <code key="hash">{hash}</code>],
        ['Created', <TimeAgo key="created" at={policy.createdAt} />],
        ['By', policy.author.name || policy.author.email],
        ['Changed', <TimeAgo key="changed" at={policy.updatedAt} />],
        ['Id', <code key="id">{policy.id}</code>],
      ]}
    />
  );
}

function Delete({
  entry: { policy, assignments },
  whyNot,
}: OfEntry & { readonly whyNot: string | undefined }) {
  const navigate = useNavigate();
  const places = assignments.length === 1 ? 'One place is' : `${assignments.length} places are`;
  return (
    <Removal
      operation="deleteApprovalPolicy"
      input={{ params: { id: policy.id } }}
      refreshes={['listApprovalPolicies']}
      label="Delete"
      question={`Delete the approval policy ${policy.name}?`}
      done={`${policy.name} was deleted`}
      whyNot={whyNot}
      onDone={() => void navigate({ to: '/approval-policies' })}
    >
      {assignments.length === 0
        ? 'It is not assigned anywhere.'
        : `${places} no longer checked by it: deployments there may be applied without it.`}
    </Removal>
  );
}

function PolicyTabs({ entry }: OfEntry) {
  const { policy, assignments } = entry;
  return (
    <UrlTabs
      isStep
      tabs={[
        { value: 'verdicts', label: 'Verdicts', content: () => <PolicyVerdicts policy={policy} /> },
        {
          value: 'places',
          label: `Assigned to (${assignments.length})`,
          content: () => <PolicyPlaces entry={entry} />,
        },
        { value: 'settings', label: 'Settings', content: () => <Settings entry={entry} /> },
        { value: 'test', label: 'Test', content: () => <TestPolicy policy={policy} /> },
      ]}
    />
  );
}

function Shown({ entry }: OfEntry) {
  const { policy } = entry;
  const { organizationId } = useSession();
  const [{ edit }, change] = useSearchState();
  const rights = useRights({ organizationId });
  const whyNot = rights.whyNot('CREATE_AND_EDIT_TEMPLATES');
  const { id } = policy;
  return (
    <Page
      title={policy.name}
      crumbs={crumbs}
      actions={
        edit === undefined && (
          <>
            <ActionButton
              size="xs"
              variant="default"
              whyNot={whyNot}
              onClick={() => change({ edit: '' }, true)}
            >
              Edit
            </ActionButton>
            <Delete entry={entry} whyNot={whyNot} />
          </>
        )
      }
      calls={[
        callOf('Show this policy', 'getTemplate', { params: { id } }, ['approval-policies', 'show', id]),
        callOf('List its verdicts', 'listPolicyVerdicts', { params: { id } }, [
          ...['approval-policies', 'verdicts', id],
        ]),
        callOf(
          'Test it against a deployment',
          'testApprovalPolicy',
          { body: { policyId: id, deploymentId: '{deploymentId}' } },
          ['policy', 'test', id, '--deployment', '<deployment>'],
        ),
      ]}
    >
      {edit === undefined ? (
        <PolicyTabs entry={entry} />
      ) : (
        <EditPolicy policyId={id} whyNot={whyNot} onDone={() => change({ edit: undefined })} />
      )}
    </Page>
  );
}

export function ApprovalPolicyPage() {
  const { policyId = '' } = useParams({ strict: false });
  const { organizationId } = useSession();
  const policies = useRead('listApprovalPolicies', { query: { organizationId } });
  const entry = policies.data?.find(({ policy }) => policy.id === policyId);
  if (entry) return <Shown key={policyId} entry={entry} />;
  return (
    <Page title="Approval policy" crumbs={crumbs} calls={[]}>
      <Loaded query={policies}>
        {() => (
          <EmptyState title="There is no such approval policy">
            It was deleted, or it belongs to another organization.
          </EmptyState>
        )}
      </Loaded>
    </Page>
  );
}
